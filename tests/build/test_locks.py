"""Whether builds wait for one another, and clear away what dead ones left."""

import subprocess
import sys

import pytest

from trtspec.build.locks import (
    held,
    lock_file,
    stages_directory,
    sweep,
    temporary_artifact,
    temporary_stage,
)

HOLD = """
import sys
from pathlib import Path
from trtspec.build.locks import held
from trtspec.build.progress import SILENT
with held(Path(sys.argv[1]), sys.argv[2], SILENT):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(engines):
    """Another process that holds the lock ``label`` until it is told to end."""
    processes = []

    def hold(label):
        process = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(engines), label],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        processes.append(process)
        assert process.stdout.readline() == "held\n"
        return process

    yield hold
    for process in processes:
        process.kill()
        process.communicate()


def test_free_lock_is_taken_without_a_word(engines, lines):
    with held(engines, "stage-1", lines.progress):
        assert lock_file(engines, "stage-1").exists()
    with held(engines, "stage-1", lines.progress):
        pass
    assert lines == []


def test_other_labels_do_not_wait(engines, lines, holder):
    holder("stage-1")
    with held(engines, "stage-2", lines.progress):
        assert lines == []


def test_waiting_is_said_and_ends_with_the_other_build(engines, lines, holder):
    process = holder("stage-1")
    told = []

    def end_it(text):
        told.append(text)
        process.communicate("")

    with held(engines, "stage-1", type(lines.progress)(end_it)):
        assert process.poll() == 0
    assert told == ["waiting for another build that is making stage-1"]


def test_lock_of_a_killed_build_is_free(engines, lines, holder):
    process = holder("stage-1")
    process.kill()
    process.wait()
    with held(engines, "stage-1", lines.progress):
        assert lines == []


def test_lock_is_released_when_the_work_fails(engines, lines):
    with pytest.raises(RuntimeError), held(engines, "stage-1", lines.progress):
        raise RuntimeError
    with held(engines, "stage-1", lines.progress):
        assert lines == []


def make_leftovers(engines, label, pid=99):
    folders = [
        temporary_stage(engines, label, pid),
        temporary_artifact(engines, label, pid),
    ]
    for folder in folders:
        (folder / "output").mkdir(parents=True)
        (folder / "output" / "half").write_text("x")
    return folders


def test_sweep_removes_what_dead_builds_left(engines):
    folders = make_leftovers(engines, "convert-target-0123456789ab")
    sweep(engines)
    assert not any(folder.exists() for folder in folders)


def test_sweep_leaves_what_a_living_build_fills(engines, holder):
    folders = make_leftovers(engines, "convert-target-0123456789ab")
    process = holder("convert-target-0123456789ab")
    sweep(engines)  # does not wait
    assert all(folder.exists() for folder in folders)
    process.communicate("")
    sweep(engines)
    assert not any(folder.exists() for folder in folders)


def test_sweep_touches_nothing_else(engines):
    kept = [
        stages_directory(engines) / "convert-target-0123456789ab",
        stages_directory(engines) / "logs",
        engines / "tiny-0123456789ab",
        engines / ".hidden",
    ]
    for folder in kept:
        folder.mkdir(parents=True)
    sweep(engines)
    assert all(folder.exists() for folder in kept)


def test_sweep_of_nothing_makes_nothing(engines):
    sweep(engines)
    assert not engines.exists()
