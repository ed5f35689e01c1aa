"""What is done is kept: after a change, a kill, and beside another build."""

import json
import signal
import subprocess
import sys

import pytest

from tests.build.projects import change_weights
from tests.build.test_kill import children_of, is_running, leftovers, wait_until
from tests.trtllm.engine.projects import actions, make_workshop
from trtspec.build.artifact import Artifact
from trtspec.build.locks import held, stages_directory
from trtspec.build.progress import SILENT
from trtspec.build.resolve import inspected, named
from trtspec.recipe import load_recipe


@pytest.fixture
def workshop(tmp_path):
    return make_workshop(tmp_path)


def run_names(built):
    return [name for name, action in actions(built).items() if action == "run"]


def test_second_build_calls_no_program(workshop):
    recipe = workshop.write("draft_target")
    first = workshop.build(recipe)
    calls = len(workshop.standin.calls())
    second = workshop.build(recipe)
    assert run_names(second) == ["resolve"]
    assert second.artifact == first.artifact
    assert len(workshop.standin.calls()) == calls == 4


def test_one_changed_limit_only_compiles_again(workshop):
    first = workshop.build(workshop.write("medusa"))
    second = workshop.build(workshop.write("medusa", limits={"max_batch_size": 3}))
    assert run_names(second) == ["resolve", "build-target", "assemble"]
    assert second.artifact.path != first.artifact.path
    assert "max_batch_size 3" in " ".join(workshop.standin.calls()[-1]["argv"])


def test_shorter_draft_within_the_capacity_keeps_both_engines(workshop):
    engine = {"max_draft_length": 6}
    first = workshop.build(
        workshop.write("draft_target", draft_length=5, engine=engine)
    )
    second = workshop.build(
        workshop.write("draft_target", draft_length=2, engine=engine)
    )
    assert run_names(second) == ["resolve", "assemble"]
    assert second.artifact.path != first.artifact.path
    assert second.artifact.recipe.speculation.draft_length == 2


def test_longer_draft_without_a_capacity_compiles_again(workshop):
    workshop.build(workshop.write("ngram", draft_length=2))
    second = workshop.build(workshop.write("ngram", draft_length=3))
    assert run_names(second) == ["resolve", "build-target", "assemble"]


def test_other_weights_are_converted_again(workshop):
    recipe = workshop.write("ngram")
    workshop.build(recipe)
    change_weights(workshop.folder / "llama")
    names = ["resolve", "convert-target", "build-target", "assemble"]
    assert run_names(workshop.build(recipe)) == names


def test_other_script_converts_again(workshop):
    recipe = workshop.write("ngram")
    workshop.build(recipe)
    (script,) = workshop.standin.examples.glob("models/core/llama/*.py")
    script.write_text(f"{script.read_text()}# another line\n")
    assert "convert-target" in run_names(workshop.build(recipe))


def start(workshop, recipe, errors=subprocess.DEVNULL):
    """Start ``trtspec build`` in a process of its own."""
    command = [sys.executable, "-m", "trtspec", "build", str(recipe), "--json"]
    return subprocess.Popen(
        [*command, "--engines", str(workshop.engines)],
        env={**workshop.standin.environment(), "TRTSPEC_CACHE": str(workshop.folder)},
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    )


def works(workshop):
    """Whether the slow builder has begun."""
    logs = stages_directory(workshop.engines).glob("logs/build-target-*.log")
    return any("working ..." in log.read_text() for log in logs)


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_killed_build_goes_on_behind_what_was_converted(workshop):
    recipe = workshop.write("medusa")
    workshop.standin.fail("build:slow")
    process = start(workshop, recipe)
    wait_until(lambda: works(workshop))
    (builder,) = children_of(process.pid)
    process.kill()
    process.communicate()
    wait_until(lambda: not is_running(builder))
    workshop.standin.fail(None)
    resumed = workshop.build(recipe)
    assert run_names(resumed) == ["resolve", "build-target", "assemble"]
    assert Artifact.open(resumed.artifact.path) == resumed.artifact
    assert leftovers(workshop.engines) == []


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_interrupted_build_takes_the_builder_with_it(workshop):
    workshop.standin.fail("build:slow")
    process = start(workshop, workshop.write("none"))
    wait_until(lambda: works(workshop))
    (builder,) = children_of(process.pid)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=240)
    assert process.returncode == 130
    assert not is_running(builder)
    assert leftovers(workshop.engines) == []


def build_label(workshop, recipe):
    with workshop.open() as backend:
        stages = backend.stages(inspected(named(load_recipe(recipe))))
    return next(stage.label for stage in stages if stage.name == "build-target")


def test_two_builds_at_once_compile_once(workshop):
    recipe = workshop.write("ngram")
    logs = [workshop.folder / "log0", workshop.folder / "log1"]
    with held(workshop.engines, build_label(workshop, recipe), SILENT):
        builds = []
        for log in logs:
            with log.open("w") as stream:
                builds.append(start(workshop, recipe, stream))
        wait_until(lambda: all("waiting" in log.read_text() for log in logs))
    results = [json.loads(process.communicate(timeout=240)[0]) for process in builds]
    assert [process.returncode for process in builds] == [0, 0]
    assert results[0]["artifact"] == results[1]["artifact"]
    programs = [call["program"] for call in workshop.standin.calls()]
    assert programs == ["llama", "trtllm-build"]
