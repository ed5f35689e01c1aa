"""Checkpoints of the hub's cache: links to links, pinned by commit and hashes."""

import pytest

from tests.models.drafters import write_eagle3
from tests.models.test_hub import COMMIT, put_in_cache
from tests.trtllm.pytorch.build.projects import build_project, write_project
from trtspec.build.artifact import Artifact
from trtspec.errors import RunError


def test_snapshot_is_linked_and_its_weights_are_found_through_it(tmp_path, engines):
    snapshot = put_in_cache()
    recipe = write_project(tmp_path, target={"model": "org/name", "revision": "main"})
    artifact = build_project(recipe, engines).artifact
    assert (artifact.path / "target").readlink() == snapshot.resolve()
    assert snapshot.name == COMMIT
    assert (artifact.target / "model.safetensors").is_file()
    source = Artifact.open(artifact.path).manifest.source["target"]
    assert (source.model, source.kind, source.revision) == ("org/name", "hub", "main")


def test_blob_that_was_changed_is_named(tmp_path, engines):
    snapshot = put_in_cache()
    recipe = write_project(tmp_path, target={"model": "org/name"})
    artifact = build_project(recipe, engines).artifact
    (snapshot / "config.json").resolve().write_text("{}")
    with pytest.raises(RunError, match=r"target/config\.json was changed"):
        Artifact.open(artifact.path)


def test_converted_head_holds_files_and_no_links(tmp_path, engines):
    def write(folder):
        write_eagle3(folder, draft_vocab_size=None)

    put_in_cache("org/head", write=write)
    recipe = write_project(tmp_path, "eagle3", model="org/head")
    draft = build_project(recipe, engines).artifact.draft
    assert {path.name for path in draft.iterdir()} == {
        "config.json",
        "config.original.json",
        "model.safetensors",
    }
    assert not any(path.is_symlink() for path in draft.iterdir())
