"""One process at a time writes a run; one that ends or is killed leaves no lock."""

from __future__ import annotations

import errno
import signal
import subprocess
import sys

import pytest

from tests.bench.fakes import FakeRunner, plan, run
from trtspec.bench import one_writer
from trtspec.bench.one_writer import OneWriter
from trtspec.bench.rundir import PLAN, RunDirectory, load_run
from trtspec.errors import UsageError

HOLD = """
import sys
from pathlib import Path
from trtspec.bench.one_writer import OneWriter
held = OneWriter(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def other(tmp_path):
    """Another process that writes in a run."""
    run(FakeRunner(), plan(8), tmp_path / "r")
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "r")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_run_that_is_measured_at_this_moment_cannot_be_resumed(tmp_path, other):
    before = {f.name: f.read_bytes() for f in (tmp_path / "r").iterdir()}
    with pytest.raises(UsageError, match="another trtspec bench is writing"):
        RunDirectory.reopen(tmp_path / "r")
    assert {f.name: f.read_bytes() for f in (tmp_path / "r").iterdir()} == before


def test_it_can_be_reported_meanwhile(tmp_path, other):
    assert load_run(tmp_path / "r").result.cells[0].blocks == 3


def test_a_killed_process_holds_nothing(tmp_path, other):
    other.send_signal(signal.SIGKILL)
    other.wait()
    RunDirectory.reopen(tmp_path / "r")


def test_two_runs_that_begin_at_once_do_not_share_a_directory(tmp_path):
    first = RunDirectory.create(tmp_path / "r", plan(8))
    (tmp_path / "r" / PLAN).unlink()  # the other one looked before it was written
    with pytest.raises(UsageError, match="another trtspec bench is writing"):
        RunDirectory.create(tmp_path / "r", plan(8))
    first.finish(partial=True)


def test_a_run_that_ended_lets_go(tmp_path):
    directory = RunDirectory.create(tmp_path / "r", plan(8))
    directory.finish(partial=True)
    again = RunDirectory.reopen(tmp_path / "r")
    assert directory.plan == again.plan
    again.finish(partial=True)


def test_what_is_forgotten_lets_go(tmp_path):
    held = OneWriter(tmp_path)
    del held
    OneWriter(tmp_path).let_go()


def test_letting_go_twice_closes_nothing_of_somebody_else(tmp_path):
    held = OneWriter(tmp_path)
    held.let_go()
    with (tmp_path / "new").open("w") as file:  # has the number that was let go
        held.let_go()
        file.write("still open")
    assert (tmp_path / "new").read_text() == "still open"


def test_a_file_system_without_locks_is_gone_on_with(tmp_path, monkeypatch):
    def unknown(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(one_writer.fcntl, "flock", unknown)
    run(FakeRunner(), plan(8), tmp_path / "r")
    RunDirectory.reopen(tmp_path / "r")
