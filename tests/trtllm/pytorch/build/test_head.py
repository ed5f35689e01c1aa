"""A head whose config.json must change: rewritten, with the original kept."""

import json

import pytest

from tests.models.drafters import write_eagle3
from tests.trtllm.pytorch.build.projects import (
    backend_of,
    build_project,
    write_project,
)
from trtspec.build.artifact import Artifact
from trtspec.build.plan import make_plan
from trtspec.build.resolve import inspected_without_fetching, named
from trtspec.build.stage import StageContext
from trtspec.models.drafter import describe_drafter
from trtspec.models.eagle3_head import needed_changes
from trtspec.recipe import load_recipe
from trtspec.trtllm.pytorch.build.head import head_changes, head_stage


@pytest.fixture
def recipe(tmp_path):
    """A recipe whose head does not say how many tokens it can propose."""
    write_eagle3(tmp_path / "eagle3", draft_vocab_size=None)
    return write_project(tmp_path, "eagle3")


def test_head_that_needs_nothing_is_linked(tmp_path, engines):
    artifact = build_project(write_project(tmp_path, "eagle3"), engines).artifact
    assert artifact.draft.is_symlink()


def test_configuration_is_rewritten_and_the_original_kept(tmp_path, engines, recipe):
    built = build_project(recipe, engines)
    artifact = Artifact.open(built.artifact.path)
    assert [s.name for s in built.stages[1:-1]] == ["convert-head", "configure"]
    assert not artifact.draft.is_symlink()
    source = tmp_path / "eagle3"
    original = (source / "config.json").read_bytes()
    assert (artifact.draft / "config.original.json").read_bytes() == original
    config = json.loads((artifact.draft / "config.json").read_text())
    assert config == {**json.loads(original), "draft_vocab_size": 8}
    weights = "model.safetensors"
    assert (artifact.draft / weights).read_bytes() == (source / weights).read_bytes()
    log = (artifact.path / "logs" / "convert-head.log").read_text()
    assert log.startswith("draft_vocab_size: None -> 8: ")


def test_what_was_rewritten_needs_no_change_any_more(engines, recipe):
    draft = build_project(recipe, engines).artifact.draft
    assert needed_changes(describe_drafter(draft, "eagle3")) == ()


def test_artifacts_own_recipe_gives_the_same_artifact_a_link(engines, recipe):
    artifact = build_project(recipe, engines).artifact
    again = build_project(artifact.path / "recipe.yaml", engines)
    assert [s.name for s in again.stages] == ["resolve", "configure", "assemble"]


def test_plan_says_what_would_be_changed_and_why(engines, recipe):
    planned = make_plan(load_recipe(recipe), backend_of(), engines)
    (stage,) = [s for s in planned.stages if s.name == "convert-head"]
    (line,) = stage.summary
    assert line.startswith("set draft_vocab_size in the head's config.json: null -> 8")
    assert "d2t is not loaded" in line
    assert set(planned.links) == {"target"}


def test_changes_and_content_decide_the_key(tmp_path, engines, recipe):
    def key():
        planned = make_plan(load_recipe(recipe), backend_of(), engines)
        return planned.fingerprint

    before = key()
    write_eagle3(tmp_path / "eagle3", draft_vocab_size=None, drafted=4)
    assert key() != before


def test_users_head_is_left_as_it_was(tmp_path, recipe):
    weights = tmp_path / "eagle3" / "model.safetensors"
    weights.chmod(0o600)
    source = inspected_without_fetching(named(load_recipe(recipe))).draft
    stage = head_stage(source, head_changes(source))
    (tmp_path / "output").mkdir()
    stage.action(StageContext(tmp_path / "output", {}, tmp_path / "log"))
    assert weights.stat().st_nlink == 1
    assert weights.stat().st_mode & 0o777 == 0o600
