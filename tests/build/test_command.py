"""Whether a program's failure is told in one line, and none is left running."""

import os
import signal
import subprocess
import sys

import pytest

from tests.build.test_kill import is_running, wait_until
from trtspec.build.command import CommandError, run_command
from trtspec.build.command_line import Command, resolved, slot
from trtspec.build.log_lines import last_line, last_lines
from trtspec.build.space import NoSpaceError
from trtspec.errors import BuildError


@pytest.fixture
def run(tmp_path):
    def run(code, *arguments, **keys):
        run_command(
            [sys.executable, "-c", code, *map(str, arguments)],
            log_file=tmp_path / "log",
            writes_to=tmp_path,
            **keys,
        )
        return (tmp_path / "log").read_text()

    return run


def test_output_goes_to_the_log_and_not_to_the_terminal(run, capfd):
    log = run("import sys; print('out'); print('err', file=sys.stderr)")
    assert "out" in log
    assert "err" in log
    assert capfd.readouterr() == ("", "")


def test_log_begins_with_the_command_and_keeps_what_was_there(run, tmp_path):
    (tmp_path / "log").write_text("before\n")
    first, second = run("pass").splitlines()
    assert first == "before"
    assert second == f"$ {sys.executable} -c pass"


def test_failure_gives_the_last_line_and_the_log(run, tmp_path):
    with pytest.raises(BuildError) as caught:
        run("import sys; print('first'); sys.exit('ValueError: the reason')")
    assert caught.value.problems[0].what == "ValueError: the reason"
    assert str(tmp_path / "log") in caught.value.problems[0].action


def test_traceback_ends_in_the_line_that_is_shown(run):
    with pytest.raises(BuildError, match=r"^KeyError: 'x'\n"):
        run("{}['x']")


@pytest.mark.parametrize(
    "code",
    [
        "import errno, os; raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))",
        "import sys; sys.exit('SafetensorError: I/O error: x (os error 28)')",
        "import sys; print('OSError: [Errno 28] No space left on device'); "
        "print('worker 1 has failed'); sys.exit('Engine building failed')",
    ],
)
def test_full_disk_in_a_program_names_the_folder_it_writes_to(run, tmp_path, code):
    with pytest.raises(NoSpaceError, match=str(tmp_path)):
        run(code)


def test_program_that_was_killed_says_by_which_signal(run):
    with pytest.raises(BuildError, match=r"signal 9: .*out of memory"):
        run("import os; os.kill(os.getpid(), 9)")
    with pytest.raises(BuildError, match=r"ended by signal 15\n"):
        run("import os; os.kill(os.getpid(), 15)")


def test_program_that_says_nothing_gives_its_status(run):
    with pytest.raises(BuildError) as caught:
        run("import os; os._exit(3)")
    assert caught.value.problems[0].what == "exit status 3"


def test_program_that_does_not_exist_is_a_build_error(tmp_path):
    with pytest.raises(BuildError, match="cannot start /no/such/program"):
        run_command(["/no/such/program"], log_file=tmp_path / "log", writes_to=tmp_path)


def test_environment_is_passed(run):
    environment = {**os.environ, "TRTSPEC_TEST": "seen"}
    code = "import os; print(os.environ['TRTSPEC_TEST'])"
    assert "seen" in run(code, environment=environment)


def test_interrupt_kills_the_program(run, monkeypatch):
    started = []

    class Interrupted(subprocess.Popen):
        def wait(self, timeout=None):
            if self not in started:
                started.append(self)
                raise KeyboardInterrupt
            return super().wait(timeout)

    monkeypatch.setattr(subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        run("import time; time.sleep(600)")
    assert started[0].returncode == -signal.SIGKILL


def test_last_line_of_an_empty_log_is_empty(tmp_path):
    (tmp_path / "log").write_text("\n \n")
    assert last_line(tmp_path / "log") == ""


def test_last_line_takes_bytes_that_are_no_text(tmp_path):
    (tmp_path / "log").write_bytes(b"a\n" + b"x" * 50_000 + b"\nend \xff\n\n")
    assert last_line(tmp_path / "log") == "end \ufffd"


def test_places_are_filled_where_an_argument_is_exactly_one():
    command = Command(("{python}", "--to", "{output}", "x{output}", "{other}", "{}"))
    paths = {"python": "python3", "output": "/out"}
    assert command.resolved(paths) == (
        "python3", "--to", "/out", "x{output}", "{other}", "{}",
    )  # fmt: skip
    assert slot("convert-target") == "{convert-target}"
    assert resolved(slot("a"), {"a": "/b"}) == "/b"


def test_program_runs_where_it_is_told(run, tmp_path):
    (tmp_path / "there").mkdir()
    log = run("import os; print(os.getcwd())", directory=tmp_path / "there")
    assert str(tmp_path / "there") in log


def test_failure_keeps_the_last_lines_in_order(run):
    with pytest.raises(CommandError) as caught:
        run("import sys; print('one'); print(); print('two'); sys.exit('three')")
    assert caught.value.tail == ("one", "two", "three")
    assert caught.value.problems[0].what == "three"


def test_lines_of_an_earlier_program_are_no_part_of_the_failure(run):
    run("print('of the first')")
    with pytest.raises(CommandError) as caught:
        run("import sys; sys.exit('of the second')")
    assert caught.value.tail == ("of the second",)


def test_watcher_is_told_the_last_line_while_the_program_runs(run, tmp_path):
    seen, done = [], tmp_path / "seen"

    def watch(line):
        seen.append(line)
        if line == "step 2":
            done.write_text("")

    run(
        "import pathlib, sys, time\n"
        "print('step 1\\nstep 2', flush=True)\n"
        "while not pathlib.Path(sys.argv[1]).exists(): time.sleep(0.02)\n",
        done,
        watch=watch,
    )
    assert "step 2" in seen
    assert set(seen) <= {"", "step 1", "step 2"}


def test_line_that_was_written_over_counts_with_its_last_state(tmp_path):
    log = tmp_path / "log"
    log.write_bytes(b"start\r\n 10%\r 50%\r100%\nnext\n 20%\r 40%")
    assert last_lines(log) == ["start", "100%", "next", "40%"]
    log.write_bytes(b"bar  30%\r")
    assert last_line(log) == "bar  30%"


def test_last_lines_can_begin_in_the_middle(tmp_path):
    (tmp_path / "log").write_text("first\nsecond\n")
    assert last_lines(tmp_path / "log", len("first\n")) == ["second"]


STARTS_ANOTHER = """
import pathlib, subprocess, sys, time
other = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
path = pathlib.Path(sys.argv[1])
path.with_suffix(".tmp").write_text(str(other.pid))
path.with_suffix(".tmp").rename(path)
{then}
"""
"""A program that starts another one and writes down its process id."""


def started_by_it(path):
    wait_until(path.exists)
    return int(path.read_text())


def test_interrupt_kills_what_the_program_started(run, tmp_path):
    path = tmp_path / "pid"

    def interrupt(line):
        if path.exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(STARTS_ANOTHER.format(then="other.wait()"), path, watch=interrupt)
    wait_until(lambda: not is_running(started_by_it(path)))


@pytest.mark.parametrize("then", ["", "sys.exit('it failed')", "import os; os.abort()"])
def test_what_a_program_leaves_behind_is_killed(run, tmp_path, then):
    path = tmp_path / "pid"
    try:
        run(STARTS_ANOTHER.format(then=then), path)
    except CommandError:
        assert then
    wait_until(lambda: not is_running(started_by_it(path)))


BUILDS = """
import pathlib, sys
from trtspec.build.command import run_command
sleeps = "import os, pathlib, sys, time\\n"
sleeps += "p = pathlib.Path(sys.argv[1]); t = p.with_suffix('.tmp')\\n"
sleeps += "t.write_text(str(os.getpid())); t.rename(p); time.sleep(600)"
folder = pathlib.Path(sys.argv[1])
command = [sys.executable, "-c", sleeps, str(folder / "pid")]
run_command(command, log_file=folder / "log", writes_to=folder)
"""
"""A process of ours that runs a program which never ends by itself."""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the kernel to")
def test_program_dies_with_the_process_that_runs_it(tmp_path):
    ours = subprocess.Popen([sys.executable, "-c", BUILDS, str(tmp_path)])
    program = started_by_it(tmp_path / "pid")
    assert is_running(program)
    ours.kill()
    ours.wait()
    wait_until(lambda: not is_running(program))


INTERRUPTED_AT_THE_FORK = """
import os, signal, sys
from pathlib import Path
from trtspec.build.command import run_command
signal.signal(signal.SIGINT, signal.default_int_handler)
os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGINT))
try:
    run_command(["sleep", "1"], log_file=Path("log"), writes_to=Path("."))
except KeyboardInterrupt:
    print("interrupted")
"""


def test_interrupt_while_the_program_is_started_is_not_lost(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_AT_THE_FORK],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


def test_program_gets_the_signals_that_are_held_back_at_its_start(tmp_path):
    log = tmp_path / "log"
    run_command(
        ["sh", "-c", "grep SigBlk /proc/self/status"], log_file=log, writes_to=tmp_path
    )
    with open("/proc/self/status") as stream:
        (ours,) = (line for line in stream if line.startswith("SigBlk"))
    assert ours in log.read_text()
