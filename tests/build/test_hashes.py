"""Whether every change of a folder's files is noticed."""

import hashlib
import os

import pytest

from tests.models.tiny import write_checkpoint, write_sharded
from trtspec.build.hashes import differing_files, hashes_of, missing_files, tree_hashes


@pytest.fixture
def folder(tmp_path):
    write_checkpoint(tmp_path / "model")
    (tmp_path / "findings.json").write_text("[]")
    return tmp_path


def sha(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_every_file_at_any_depth_is_hashed(folder):
    assert tree_hashes(folder) == {
        "findings.json": sha(folder / "findings.json"),
        "model/config.json": sha(folder / "model" / "config.json"),
        "model/model.safetensors": sha(folder / "model" / "model.safetensors"),
        "model/tokenizer.json": sha(folder / "model" / "tokenizer.json"),
    }


def test_sharded_weights_are_hashed(tmp_path):
    write_sharded(tmp_path)
    assert tree_hashes(tmp_path) == {p.name: sha(p) for p in tmp_path.iterdir()}


def test_unchanged_folder_differs_in_nothing(folder):
    assert differing_files(folder, tree_hashes(folder)) == []


@pytest.mark.parametrize(
    "name", ["findings.json", "model/model.safetensors", "model/config.json"]
)
def test_changed_and_missing_files_are_named(folder, name):
    recorded = tree_hashes(folder)
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert differing_files(folder, recorded) == [f"{name} was changed"]
    (folder / name).unlink()
    assert differing_files(folder, recorded) == [f"{name} is missing"]
    assert missing_files(folder, recorded) == [name]


def test_folder_that_is_no_readable_checkpoint_is_hashed_all_the_same(tmp_path):
    (tmp_path / "model.safetensors.index.json").write_text("{not json")
    (tmp_path / "a.gguf").write_text("a")
    (tmp_path / "b.gguf").write_text("b")
    assert tree_hashes(tmp_path) == {p.name: sha(p) for p in tmp_path.iterdir()}


def test_folder_that_is_gone_misses_all(tmp_path):
    assert hashes_of(tmp_path / "gone", ["a"]) == {}
    assert differing_files(tmp_path / "gone", {"a": "0"}) == ["a is missing"]


def test_weights_are_not_read_again_while_they_do_not_change(folder, monkeypatch):
    weights = folder / "model" / "model.safetensors"
    os.utime(weights, (1_000_000_000, 1_000_000_000))
    first = tree_hashes(folder)
    read = []
    monkeypatch.setattr(
        "trtspec.models.identity.sha256_file", lambda path: read.append(path) or "0"
    )
    assert (
        tree_hashes(folder)["model/model.safetensors"]
        == (first["model/model.safetensors"])
    )
    assert weights not in read
