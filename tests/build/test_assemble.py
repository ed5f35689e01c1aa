"""Whether an artifact is complete or absent, whatever goes wrong on the way."""

import errno
import os
from unittest.mock import Mock

import pytest

from tests.build.projects import toy_stage
from trtspec.build import assemble as module
from trtspec.build.assemble import assemble, rewrite_texts
from trtspec.build.manifest import MANIFEST_SCHEMA, Manifest
from trtspec.build.store import StageStore

TEXTS = {"recipe.yaml": b"recipe", "workload.jsonl": b"prompts"}


def manifest(name="x"):
    return Manifest(
        schema=MANIFEST_SCHEMA,
        name=name,
        fingerprint="0" * 64,
        recipe={},
        source={},
        versions={},
        stages=(),
        created="2026-01-01T00:00:00+00:00",
    )


@pytest.fixture
def stored(engines, lines):
    store = StageStore(engines, lines.progress)
    return [
        store.obtain(toy_stage("convert", folder="target"), {}),
        store.obtain(toy_stage("check", folder=""), {}),
    ]


@pytest.fixture
def destination(engines):
    return engines / "x-000000000000"


def tree(folder):
    return sorted(
        p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()
    )


COMPLETE = [
    "logs/check.log",
    "logs/convert.log",
    "manifest.json",
    "recipe.yaml",
    "target/file.txt",
    "workload.jsonl",
]


def test_artifact_gets_folders_texts_logs_and_manifest(destination, stored):
    written = assemble(destination, stored, TEXTS, manifest)
    assert written == manifest()
    assert tree(destination) == COMPLETE
    assert (destination / "target" / "file.txt").samefile(stored[0].output / "file.txt")


def test_manifest_is_asked_for_when_all_else_is_there(destination, stored, engines):
    def look():
        (folder,) = engines.glob(".tmp-*")
        assert tree(folder) == [name for name in COMPLETE if name != "manifest.json"]
        assert not destination.exists()
        return manifest()

    assemble(destination, stored, TEXTS, look)
    assert not list(engines.glob(".tmp-*"))


@pytest.mark.parametrize("function", ["place_folder", "replace_text", "_finish"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_failure_while_it_is_made_leaves_nothing(stored, destination, function, error):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, function, Mock(side_effect=error))
        with pytest.raises(type(error)):
            assemble(destination, stored, TEXTS, manifest)
    assert [path.name for path in destination.parent.iterdir()] == [".stages"]


def test_failure_while_it_is_mended_leaves_no_manifest(
    destination, stored, monkeypatch
):
    assemble(destination, stored, TEXTS, manifest)
    monkeypatch.setattr(module, "place_folder", lambda *args: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        assemble(destination, stored, TEXTS, manifest)
    assert "manifest.json" not in tree(destination)


def test_mending_restores_what_is_ours_and_keeps_what_is_not(destination, stored):
    assemble(destination, stored, TEXTS, manifest)
    (destination / "target" / "file.txt").unlink()
    (destination / "target" / "stray").write_text("")
    (destination / f".manifest.json.{os.getpid() + 1}.tmp").write_text("half")
    (destination / "result.json").write_text("a user's")
    assemble(destination, stored, TEXTS, manifest)
    assert tree(destination) == sorted([*COMPLETE, "result.json"])


def test_stage_without_a_log_is_assembled(destination, stored):
    stored[0].log.unlink()
    assemble(destination, stored, TEXTS, manifest)
    assert "logs/convert.log" not in tree(destination)


def test_rewriting_texts_leaves_the_models(destination, stored):
    assemble(destination, stored, TEXTS, manifest)
    inode = (destination / "target" / "file.txt").stat().st_ino
    rewrite_texts(destination, {"recipe.yaml": b"new"}, manifest("y"))
    assert (destination / "recipe.yaml").read_bytes() == b"new"
    assert not (destination / "workload.jsonl").exists()
    assert '"name": "y"' in (destination / "manifest.json").read_text()
    assert (destination / "target" / "file.txt").stat().st_ino == inode


def test_manifest_is_gone_while_texts_are_rewritten(destination, stored, monkeypatch):
    assemble(destination, stored, TEXTS, manifest)
    seen = []
    monkeypatch.setattr(
        module, "_write_texts", lambda *args: seen.extend(tree(destination))
    )
    rewrite_texts(destination, TEXTS, manifest())
    assert "manifest.json" not in seen
    assert "manifest.json" in tree(destination)
