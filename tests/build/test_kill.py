"""Whether a build that is killed anywhere goes on to the same artifact."""

import json
import signal
import subprocess
import sys
import time

import pytest

from tests.build.endless import WAITS
from tests.build.killer import ELSEWHERE
from tests.build.projects import load, snapshot, write_project
from trtspec.build.artifact import Artifact
from trtspec.build.build import build
from trtspec.build.locks import held, stages_directory
from trtspec.build.progress import SILENT
from trtspec.build.resolve import inspected_without_fetching, named
from trtspec.errors import UsageError
from trtspec.reference.backend import ReferenceBackend

ENDLESS = [sys.executable, "-m", "tests.build.endless"]
"""A trtspec whose builds wait in the first stage for whatever a test does to them."""
STAGES = ["convert-target", "convert-draft", "check-pair"]
UPDATE = ["assemble-texts", "assemble-manifest"]


def killed_build(where, recipe, engines):
    """Run a build that dies; it must really have died of it."""
    command = [sys.executable, "-m", "tests.build.killer", where, recipe, engines]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == -signal.SIGKILL, result.stderr


def leftovers(engines):
    return [*engines.glob(".stages/tmp-*"), *engines.glob(".tmp-*")]


def artifacts(engines):
    return [path for path in engines.glob("*") if not path.name.startswith(".")]


@pytest.mark.parametrize("where", [*STAGES, *ELSEWHERE])
def test_killed_build_goes_on_to_a_byte_identical_artifact(where, tmp_path):
    recipe = write_project(tmp_path, draft=True)
    undisturbed = build(load(recipe), ReferenceBackend(), tmp_path / "a").artifact
    engines = tmp_path / "b"
    killed_build(where, recipe, engines)
    assert artifacts(engines) == []
    resumed = build(load(recipe), ReferenceBackend(), engines)
    assert snapshot(resumed.artifact.path) == snapshot(undisturbed.path)
    assert Artifact.open(resumed.artifact.path) == resumed.artifact
    assert leftovers(engines) == []


@pytest.mark.parametrize("where", ["convert-draft", "check-pair", "assemble-files"])
def test_stages_before_the_kill_are_kept(where, tmp_path, engines):
    recipe = write_project(tmp_path, draft=True)
    killed_build(where, recipe, engines)
    built = build(load(recipe), ReferenceBackend(), engines)
    done = STAGES[: STAGES.index(where)] if where in STAGES else STAGES
    assert {stage.name for stage in built.stages if stage.reused} == set(done)


@pytest.mark.parametrize("where", UPDATE)
def test_kill_while_prompts_are_replaced_leaves_no_half_artifact(
    where, tmp_path, engines
):
    first = build(load(write_project(tmp_path)), ReferenceBackend(), engines).artifact
    recipe = write_project(tmp_path, prompts=("other",))
    killed_build(where, recipe, engines)
    with pytest.raises(UsageError, match="not an artifact"):
        Artifact.open(first.path)
    resumed = build(load(recipe), ReferenceBackend(), engines).artifact
    other = build(load(recipe), ReferenceBackend(), tmp_path / "other").artifact
    assert snapshot(resumed.path) == snapshot(other.path)


def test_build_that_is_interrupted_ends_with_130_and_leaves_no_temporary_files(
    tmp_path, engines
):
    recipe = write_project(tmp_path)
    process = subprocess.Popen(
        [*ENDLESS, "build", str(recipe), "--engines", str(engines)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert any(WAITS in line for line in process.stdout)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in errors
    assert "Traceback" not in errors
    assert leftovers(engines) == []
    assert not list(stages_directory(engines).glob("logs/*"))


def test_two_builds_at_once_make_one_artifact_and_convert_once(tmp_path, engines):
    recipe = write_project(tmp_path)
    with held(engines, conversion_label(recipe), SILENT):
        builds = [start_build(recipe, engines, tmp_path / f"log{i}") for i in range(2)]
        logs = [tmp_path / "log0", tmp_path / "log1"]
        wait_until(lambda: all("waiting" in log.read_text() for log in logs))
    results = [json.loads(process.communicate(timeout=240)[0]) for process in builds]
    assert [process.returncode for process in builds] == [0, 0]
    assert results[0]["artifact"] == results[1]["artifact"]
    conversions = [result["stages"][1]["reused"] for result in results]
    assert sorted(conversions) == [False, True]
    waited = "".join(log.read_text() for log in logs)
    assert f"waiting for another build that is making {conversion_label(recipe)}" in (
        waited
    )
    assert "waiting for another build that is making tiny-" in waited


def conversion_label(recipe):
    inputs = inspected_without_fetching(named(load(recipe)))
    return ReferenceBackend().stages(inputs)[0].label


def start_build(recipe, engines, log):
    command = [sys.executable, "-m", "trtspec", "build", str(recipe), "--json"]
    with log.open("w") as stream:
        return subprocess.Popen(
            [*command, "--engines", str(engines)],
            stdout=subprocess.PIPE,
            stderr=stream,
            text=True,
        )


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_converter_ends_when_its_build_is_killed(tmp_path, engines):
    recipe = write_project(tmp_path, dtype="bfloat16")
    command = [sys.executable, "-m", "trtspec", "build", str(recipe)]
    process = subprocess.Popen([*command, "--engines", str(engines)])
    wait_until(lambda: children_of(process.pid))
    (converter,) = children_of(process.pid)
    process.kill()
    process.wait()
    wait_until(lambda: not is_running(converter))
    built = build(load(recipe), ReferenceBackend(), engines)
    assert not built.stages[1].reused
    assert leftovers(engines) == []


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as stream:
        return [int(child) for child in stream.read().split()]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as stream:
            return stream.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_until(condition, seconds=240):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)
