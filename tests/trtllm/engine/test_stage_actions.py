"""How a stage runs its program, and what it makes of what the program wrote."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.check.samples import MODEL
from tests.trtllm.engine.samples import inputs, recipe, source, stages
from tests.trtllm.engine.test_expected import engine
from trtspec.build.command import CommandError
from trtspec.build.progress import Progress
from trtspec.build.stage import StageContext
from trtspec.errors import BuildError
from trtspec.trtllm.engine import running as module


@pytest.fixture
def act(tmp_path, monkeypatch):
    """Run a stage whose program writes what ``write`` does, or raises."""
    calls, told, states = [], [], []

    def act(made, stage, write):
        def run_command(arguments, **keys):
            calls.append((list(arguments), keys))
            keys["watch"]("[TRT-LLM] [I] step 3 of 7")
            write(tmp_path / "stage" / "output")

        monkeypatch.setattr(module, "run_command", run_command)
        (tmp_path / "stage" / "output").mkdir(parents=True)
        context = StageContext(
            tmp_path / "stage" / "output",
            {"convert-target": tmp_path / "converted"},
            tmp_path / "stage.log",
            Progress(told.append, states.append),
        )
        stages(made)[stage].action(context)
        return calls, told, states

    return act


def writes(folder, config, part="rank0.engine"):
    (folder / "config.json").write_text(json.dumps(config))
    (folder / part).write_text("")


def built(**changes):
    return lambda folder: writes(folder, engine(**changes))


def test_command_is_run_beside_its_output_with_every_place_filled(act, tmp_path):
    calls, told, states = act(recipe(), "build-target", built())
    ((arguments, keys),) = calls
    assert arguments[:5] == [
        "trtllm-build",
        "--checkpoint_dir",
        str(tmp_path / "converted"),
        "--output_dir",
        str(tmp_path / "stage" / "output"),
    ]
    assert not [word for word in arguments if word.startswith("{")]
    assert keys["directory"] == tmp_path / "stage"
    assert keys["log_file"] == tmp_path / "stage.log"
    assert keys["environment"]["PYTHONUNBUFFERED"] == "1"
    assert keys["notes_in"] == tmp_path / "stage"
    assert told == []
    assert states == ["build-target: [TRT-LLM] [I] step 3 of 7"]


def test_checkpoint_that_is_here_is_named_by_its_absolute_path(
    tmp_path, monkeypatch, act
):
    monkeypatch.chdir(tmp_path)
    Path("model").mkdir()
    here = replace(source("target"), info=MODEL, directory=Path("model"))
    given = replace(inputs(recipe()), target=here)
    monkeypatch.setattr("tests.trtllm.engine.samples.inputs", lambda made: given)
    config = {"dtype": "float16", "mapping": {"tp_size": 1}}
    calls, _, _ = act(
        recipe(),
        "convert-target",
        lambda folder: writes(folder, config, "rank0.safetensors"),
    )
    assert str(tmp_path / "model") in calls[0][0]


def test_harmless_change_is_told_and_logged(act, tmp_path):
    made = recipe(engine={"build_flags": {"reduce_fusion": "enable"}})
    _, told, _ = act(made, "build-target", built(plugins={"reduce_fusion": False}))
    (line,) = told
    assert line == (
        "changed by TensorRT-LLM: build_config.plugin_config.reduce_fusion is False, "
        "planned was True"
    )
    assert (tmp_path / "stage.log").read_text() == f"{line}\n"


def test_engine_that_is_not_as_planned_fails(act):
    with pytest.raises(BuildError, match="max_batch_size is 2, planned was 4"):
        act(recipe(), "build-target", built(max_batch_size=2))


def test_engine_without_its_file_fails(act):
    with pytest.raises(BuildError, match=r"did not write rank0\.engine"):
        act(recipe(), "build-target", lambda f: writes(f, engine(), "other"))


@pytest.mark.parametrize(
    ("made", "stage", "line", "meaning"),
    [
        (recipe(), "build-target", "RuntimeError: SmoothQuant is not supported on "
         "SM>=100.", "do not exist on compute capability 10.0"),
        (recipe("eagle"), "convert-target", "KeyError: 'fc.bias'", "has no fc.bias"),
        (recipe(target={"quantization": "fp8"}), "quantize-target",
         "ConnectionError: Couldn't reach 'cnn_dailymail' on the Hub", "no network"),
    ],
)  # fmt: skip
def test_failure_is_explained_by_the_kind_of_stage(act, made, stage, line, meaning):
    def fail(folder):
        raise CommandError(line, action="see the log", tail=["before", line])

    with pytest.raises(CommandError) as caught:
        act(made, stage, fail)
    assert meaning in caught.value.problems[0].what
    assert caught.value.tail == ("before", line)
