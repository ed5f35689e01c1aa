"""What a killed build left running is ended by the next one, and nothing else."""

import json
import os
import subprocess
import sys
import time

import pytest

from tests.build.test_kill import is_running, wait_until
from trtspec.build.left_running import NOTE, VARIABLE, end_left_running, noted
from trtspec.build.locks import sweep, temporary_stage

SLEEPS = [sys.executable, "-c", "import time; time.sleep(600)"]


@pytest.fixture
def started():
    """Start processes that sleep; none is left behind."""
    processes = []

    def start(**environment):
        process = subprocess.Popen(SLEEPS, env={**os.environ, **environment})
        processes.append(process)
        return process

    yield start
    for process in processes:
        process.kill()
        process.wait()


def test_note_is_there_while_the_program_runs(tmp_path):
    with noted(tmp_path, {"A": "1"}) as environment:
        note = json.loads((tmp_path / NOTE).read_text())
        assert environment == {"A": "1", VARIABLE: note["mark"]}
    assert not (tmp_path / NOTE).exists()
    with noted(tmp_path, {}) as other:
        assert other[VARIABLE] != environment[VARIABLE]


def test_note_goes_with_a_program_that_fails(tmp_path):
    with pytest.raises(RuntimeError), noted(tmp_path, {}):
        raise RuntimeError
    assert not (tmp_path / NOTE).exists()


def test_without_a_folder_nothing_is_noted():
    with noted(None, {"A": "1"}) as environment:
        assert environment == {"A": "1"}


def write_note(folder, mark="of-this-stage", since=0.0):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NOTE).write_text(json.dumps({"mark": mark, "since": since}))


def test_process_with_the_mark_is_ended_and_no_other(tmp_path, started):
    ours = started(**{VARIABLE: "of-this-stage"})
    other = started(**{VARIABLE: "of-another-stage"})
    unmarked = started()
    write_note(tmp_path)
    end_left_running(tmp_path)
    wait_until(lambda: not is_running(ours.pid))
    assert other.poll() is None
    assert unmarked.poll() is None


def test_process_that_is_older_than_the_note_is_left(tmp_path, started):
    process = started(**{VARIABLE: "of-this-stage"})
    write_note(tmp_path, since=time.time() + 1000)
    end_left_running(tmp_path)
    assert process.poll() is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"mark": "x"}', '{"since": 1}'])
def test_damaged_note_ends_nothing(tmp_path, text):
    (tmp_path / NOTE).write_text(text)
    end_left_running(tmp_path)


def test_folder_without_a_note_ends_nothing(tmp_path):
    end_left_running(tmp_path)


BUILDS = """
import pathlib, sys
from trtspec.build.command import run_command
folder, program = pathlib.Path(sys.argv[1]), sys.argv[2]
run_command([sys.executable, "-c", program, str(folder / "pid")],
            log_file=folder / "log", writes_to=folder, notes_in=folder)
"""
STARTS_A_WORKER = """
import pathlib, subprocess, sys
worker = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
path = pathlib.Path(sys.argv[1])
path.with_suffix(".tmp").write_text(str(worker.pid))
path.with_suffix(".tmp").rename(path)
worker.wait()
"""
"""A program whose worker does not die with it."""


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_worker_that_outlives_a_killed_build_is_ended_by_the_next_sweep(engines):
    folder = temporary_stage(engines, "build-target-0123456789ab", 99)
    folder.mkdir(parents=True)
    command = [sys.executable, "-c", BUILDS, str(folder), STARTS_A_WORKER]
    build = subprocess.Popen(command)
    wait_until((folder / "pid").exists)
    worker = int((folder / "pid").read_text())
    build.kill()
    build.wait()
    assert is_running(worker)
    sweep(engines)
    wait_until(lambda: not is_running(worker))
    assert not folder.exists()
