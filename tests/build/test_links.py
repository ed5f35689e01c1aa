"""Whether an artifact's links lead to the checkpoints, and nothing is written there."""

import os
import shutil

import pytest

from tests.build.projects import change_weights, toy_stage
from tests.build.test_assemble import TEXTS, manifest, tree
from tests.models.tiny import write_checkpoint
from trtspec.build import links as module
from trtspec.build.assemble import assemble, rewrite_texts
from trtspec.build.links import (
    Link,
    differing_links,
    lead_there,
    links_of,
    place_links,
)
from trtspec.build.manifest import SourceRecord
from trtspec.build.sources import Source
from trtspec.build.store import StageStore
from trtspec.models.identity import file_hashes
from trtspec.models.locate import ModelReference


@pytest.fixture
def model(tmp_path):
    return write_checkpoint(tmp_path / "model")


@pytest.fixture
def destination(engines):
    engines.mkdir()
    return engines / "x-000000000000"


def linked(model):
    """Give a manifest of an artifact whose target is a link."""
    source = SourceRecord(
        model="m", kind="directory", revision=None, files=file_hashes(model)
    )
    update = {"links": {"target": "target"}, "source": {"target": source}}
    return manifest().model_copy(update=update)


def test_links_are_made_with_the_artifact_and_lead_there(destination, model):
    links = {"target": Link(model)}
    assemble(destination, [], TEXTS, manifest, links)
    assert os.readlink(destination / "target") == str(model)
    assert lead_there(destination, links)
    assert not lead_there(destination, {"target": Link(model.parent)})
    assert not lead_there(destination, {"draft": Link(model)})


def test_link_that_leads_elsewhere_is_replaced_in_one_step(destination, model):
    assemble(destination, [], TEXTS, manifest, {"target": Link(model)})
    moved = shutil.copytree(model, model.with_name("moved"))
    seen = []
    original = os.replace

    def replaced(source, to):
        seen.append((destination / "target").is_dir())
        return original(source, to)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", replaced)
        rewrite_texts(destination, TEXTS, manifest(), {"target": Link(moved)})
    assert set(seen) == {True}
    assert (destination / "target").resolve() == moved
    assert not list(destination.glob(".*"))


def test_manifest_is_gone_while_a_link_is_replaced(destination, model, monkeypatch):
    assemble(destination, [], TEXTS, manifest, {"target": Link(model)})
    monkeypatch.setattr(module.Path, "symlink_to", lambda *args, **keys: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        rewrite_texts(destination, TEXTS, manifest(), {"target": Link(model.parent)})
    assert "manifest.json" not in tree(destination)
    assert (destination / "target").resolve() == model


def test_folder_in_the_way_of_a_link_is_ours_and_goes(tmp_path, model):
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "old").write_text("x")
    place_links(tmp_path, {"target": Link(model)})
    assert (tmp_path / "target").is_symlink()


def test_true_copy_of_the_checkpoint_is_left_where_the_link_was(tmp_path, model):
    link = Link(model, file_hashes(model))
    copy = shutil.copytree(model, tmp_path / "a" / "target")
    place_links(tmp_path / "a", {"target": link})
    assert not copy.is_symlink()
    assert lead_there(tmp_path / "a", {"target": link})


def test_copy_that_was_changed_is_replaced_by_the_link(tmp_path, model):
    link = Link(model, file_hashes(model))
    copy = shutil.copytree(model, tmp_path / "a" / "target")
    change_weights(copy)
    assert not lead_there(tmp_path / "a", {"target": link})
    place_links(tmp_path / "a", {"target": link})
    assert copy.resolve() == model


def test_stage_never_writes_through_a_link(destination, engines, model, lines):
    store = StageStore(engines, lines.progress)
    stored = [store.obtain(toy_stage("make", folder="target"), {})]
    before = sorted(model.iterdir())
    destination.mkdir()
    (destination / "target").symlink_to(model)
    assemble(destination, stored, TEXTS, manifest)
    assert (destination / "target" / "file.txt").is_file()
    assert sorted(model.iterdir()) == before


def test_leftover_link_of_a_dead_build_is_removed(destination, model):
    destination.mkdir()
    (destination / ".target.1.tmp").symlink_to(model)
    assemble(destination, [], TEXTS, manifest, {"target": Link(model)})
    assert not list(destination.glob(".*"))
    assert sorted(model.iterdir())


def test_undamaged_link_has_no_difference(destination, model):
    assemble(destination, [], TEXTS, manifest, {"target": Link(model)})
    assert differing_links(destination, linked(model)) == []


def test_differences_name_the_file_and_where_it_is(destination, model):
    assemble(destination, [], TEXTS, manifest, {"target": Link(model)})
    said = linked(model)
    change_weights(model)
    (model / "generation_config.json").write_text("{}")
    assert differing_links(destination, said) == [
        f"target/model.safetensors was changed (in {model})",
        f"target/generation_config.json was added (in {model})",
    ]


@pytest.mark.parametrize("there", [True, False])
def test_link_to_nothing_is_named(destination, model, there):
    links = {"target": Link(model)} if there else {}
    assemble(destination, [], TEXTS, manifest, links)
    said = linked(model)
    shutil.rmtree(model)
    to = str(model) if there else "nowhere"
    assert differing_links(destination, said) == [
        f"target leads to {to}, where no checkpoint is"
    ]


def test_checkpoint_that_is_not_here_yet_has_no_link(tmp_path, model):
    reference = ModelReference("hub", "org/name", None, None)
    here = Source("target", reference, model)
    links = links_of({"target": here, "draft": Source("draft", reference)})
    assert links == {"target": Link(model)}
