"""Whether a recipe becomes the right artifact, and nothing is made twice."""

import json
import os
import shutil
import stat
from dataclasses import replace

import pytest

from tests.build.projects import change_weights, load, snapshot, write_project
from tests.models.tiny import TOKENS
from trtspec.build.artifact import Artifact
from trtspec.build.build import build
from trtspec.build.locks import stages_directory
from trtspec.errors import (
    BackendUnavailableError,
    BuildError,
    FindingsError,
    Problem,
    UsageError,
)
from trtspec.reference.backend import ReferenceBackend

BACKEND = ReferenceBackend()


def reused(built):
    return {stage.name for stage in built.stages if stage.reused}


@pytest.fixture
def recipe(tmp_path):
    return write_project(tmp_path)


def test_artifact_has_models_recipe_prompts_logs_and_manifest(recipe, engines):
    artifact = build(load(recipe), BACKEND, engines).artifact
    assert artifact.path.parent == engines
    assert artifact.path.name == f"tiny-{artifact.fingerprint[:12]}"
    assert {path.name for path in artifact.path.iterdir()} == {
        "manifest.json", "recipe.yaml", "workload.jsonl", "target", "logs",
    }  # fmt: skip
    assert (artifact.path / "logs" / "convert-target.log").read_text()
    assert artifact.workload.read_bytes() == (
        recipe.with_name("prompts.jsonl").read_bytes()
    )
    assert artifact.draft is None


def test_stages_are_those_of_the_issue_in_their_order(tmp_path, engines):
    built = build(load(write_project(tmp_path, draft=True)), BACKEND, engines)
    assert [stage.name for stage in built.stages] == [
        "resolve", "convert-target", "convert-draft", "check-pair", "assemble",
    ]  # fmt: skip
    assert built.artifact.draft == built.artifact.path / "draft"
    assert json.loads(next(stages_directory(engines).glob(
        "check-pair-*/output/findings.json"
    )).read_text()) == []  # fmt: skip


def test_returned_artifact_is_what_opening_it_gives(tmp_path, engines):
    built = build(load(write_project(tmp_path, draft=True)), BACKEND, engines)
    assert Artifact.open(built.artifact.path) == built.artifact


def test_manifest_tells_sources_versions_and_hashes(recipe, engines):
    manifest = build(load(recipe), BACKEND, engines).artifact.manifest
    source = manifest.source["target"]
    assert (source.model, source.kind) == ("./target-model", "directory")
    assert set(source.files) == {"config.json", "model.safetensors", "tokenizer.json"}
    assert {"trtspec", "torch", "transformers", "python"} <= set(manifest.versions)
    assert manifest.recipe["target"]["model"] == "./target-model"
    assert "target/model.safetensors" in manifest.files
    assert manifest.created.endswith("+00:00")


def test_second_build_reuses_all_and_changes_no_file(recipe, engines, lines):
    first = build(load(recipe), BACKEND, engines).artifact
    before = (first.path / "manifest.json").read_bytes()
    second = build(load(recipe), BACKEND, engines, lines.progress)
    assert reused(second) == {"convert-target", "assemble"}
    assert (first.path / "manifest.json").read_bytes() == before
    assert second.artifact == first
    assert [line.split()[0] for line in lines] == [
        "resolve", "convert-target", "assemble",
    ]  # fmt: skip
    assert all("reused" in line for line in lines[1:])


def test_only_news_is_told_if_asked(recipe, engines, lines):
    progress = replace(lines.progress, news_only=True)
    build(load(recipe), BACKEND, engines, progress)
    assert [line.split()[0] for line in lines] == ["convert-target", "assemble"]
    build(load(recipe), BACKEND, engines, progress)
    assert len(lines) == 2


def test_other_method_on_same_target_shares_the_conversion(tmp_path, engines):
    ngram = build(load(write_project(tmp_path)), BACKEND, engines).artifact
    none = write_project(tmp_path, name="plain", method={"method": "none"})
    built = build(load(none), BACKEND, engines)
    assert reused(built) == {"convert-target"}
    assert built.artifact.fingerprint != ngram.fingerprint
    weights = "target/model.safetensors"
    assert (built.artifact.path / weights).samefile(ngram.path / weights)


def test_changed_prompts_keep_the_artifact_and_its_models(tmp_path, engines):
    first = build(load(write_project(tmp_path)), BACKEND, engines).artifact
    inode = (first.target / "model.safetensors").stat().st_ino
    recipe = write_project(tmp_path, prompts=("another", "two"))
    built = build(load(recipe), BACKEND, engines)
    assert built.artifact.path == first.path
    assert reused(built) == {"convert-target"}
    assert len(built.artifact.workload.read_text().splitlines()) == 2
    assert (built.artifact.target / "model.safetensors").stat().st_ino == inode
    assert Artifact.open(first.path) == built.artifact


def test_workload_that_is_taken_away_goes_from_the_artifact(tmp_path, engines):
    build(load(write_project(tmp_path)), BACKEND, engines)
    artifact = build(load(write_project(tmp_path, prompts=None)), BACKEND, engines)
    assert artifact.artifact.workload is None
    assert not (artifact.artifact.path / "workload.jsonl").exists()
    assert Artifact.open(artifact.artifact.path).recipe.workload is None


def test_other_weights_give_another_artifact(recipe, engines):
    first = build(load(recipe), BACKEND, engines).artifact
    change_weights(recipe.parent / "target-model")
    second = build(load(recipe), BACKEND, engines)
    assert second.artifact.path != first.path
    assert reused(second) == set()


def test_artifact_is_taken_although_all_stages_were_deleted(recipe, engines):
    first = build(load(recipe), BACKEND, engines).artifact
    shutil.rmtree(stages_directory(engines))
    built = build(load(recipe), BACKEND, engines)
    assert reused(built) == {"convert-target", "assemble"}
    assert built.artifact == first


def test_deleted_artifact_comes_back_from_its_stages(recipe, engines):
    first = build(load(recipe), BACKEND, engines).artifact
    before = snapshot(first.path)
    shutil.rmtree(first.path)
    built = build(load(recipe), BACKEND, engines)
    assert reused(built) == {"convert-target"}
    assert snapshot(first.path) == before


def test_pair_is_checked_again_when_the_rules_changed(tmp_path, engines, monkeypatch):
    recipe = write_project(tmp_path, draft=True)
    first = build(load(recipe), BACKEND, engines).artifact
    monkeypatch.setattr("trtspec.reference.backend.CHECK_VERSION", 2)
    built = build(load(recipe), BACKEND, engines)
    assert built.artifact.path == first.path
    assert reused(built) == {"convert-target", "convert-draft"}
    assert Artifact.open(first.path) == built.artifact


def test_damaged_weights_are_made_again_and_said(recipe, engines, lines):
    artifact = build(load(recipe), BACKEND, engines).artifact
    before = snapshot(artifact.path)
    weights = artifact.target / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    built = build(load(recipe), BACKEND, engines, lines.progress)
    assert reused(built) == set()
    assert any("model.safetensors was changed" in line for line in lines)
    assert snapshot(artifact.path) == before


@pytest.mark.parametrize("name", ["manifest.json", "recipe.yaml", "target/config.json"])
def test_missing_file_of_an_artifact_is_put_back(recipe, engines, name):
    artifact = build(load(recipe), BACKEND, engines).artifact
    before = snapshot(artifact.path)
    (artifact.path / name).unlink()
    built = build(load(recipe), BACKEND, engines)
    assert "convert-target" in reused(built)
    assert snapshot(artifact.path) == before


def test_file_added_to_a_model_is_taken_out(recipe, engines):
    artifact = build(load(recipe), BACKEND, engines).artifact
    (artifact.target / "added_tokens.json").write_text("{}")
    build(load(recipe), BACKEND, engines)
    assert not (artifact.target / "added_tokens.json").exists()
    Artifact.open(artifact.path)


def test_files_are_readable_by_all_whatever_the_umask(recipe, engines):
    old = os.umask(0o077)
    try:
        artifact = build(load(recipe), BACKEND, engines).artifact
    finally:
        os.umask(old)
    modes = {stat.S_IMODE(p.stat().st_mode) for p in artifact.target.iterdir()}
    assert modes == {0o644}


def test_nothing_in_the_models_tells_where_they_came_from(recipe, engines):
    artifact = build(load(recipe), BACKEND, engines).artifact
    for path in artifact.target.iterdir():
        assert str(recipe.parent).encode() not in path.read_bytes()


def test_draft_with_another_vocabulary_is_refused_and_leaves_nothing(tmp_path, engines):
    other = (*TOKENS[:-2], TOKENS[-1], TOKENS[-2])
    recipe = write_project(tmp_path, draft=True, draft_tokens=other)
    with pytest.raises(FindingsError) as caught:
        build(load(recipe), BACKEND, engines)
    assert caught.value.exit_code == 3
    assert f"{recipe}:1" in str(caught.value)
    assert not engines.exists()


def test_truncated_weights_are_refused_before_anything_is_written(recipe, engines):
    weights = recipe.parent / "target-model" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-10])
    with pytest.raises(FindingsError, match="truncated"):
        build(load(recipe), BACKEND, engines)
    assert not engines.exists()


def test_full_disk_is_said_before_a_stage_starts(recipe, engines, monkeypatch):
    usage = shutil._ntuple_diskusage(100, 99, 1)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    with pytest.raises(
        BuildError, match=r"convert-target needs 32 MB in .*1 B are free"
    ):
        build(load(recipe), BACKEND, engines)
    assert not list(engines.glob(".stages/tmp-*"))


def test_engines_directory_that_is_a_file_is_a_wrong_option(recipe, tmp_path):
    (tmp_path / "file").write_text("")
    for engines in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(UsageError, match=r"cannot write in .*file"):
            build(load(recipe), BACKEND, engines)


def test_missing_libraries_are_named_with_exit_code_4(recipe, engines):
    class Without(ReferenceBackend):
        def missing(self, formats=()):
            return [Problem("torch not installed", action="pip install x")]

    with pytest.raises(BackendUnavailableError, match="torch not installed") as caught:
        build(load(recipe), Without(), engines)
    assert caught.value.exit_code == 4
    assert not engines.exists()
