"""Whether a program's failure is told in one line, and none is left running."""

import os
import signal
import subprocess
import sys

import pytest

from trtspec.build.command import last_line, run_command
from trtspec.build.space import NoSpaceError
from trtspec.errors import BuildError


@pytest.fixture
def run(tmp_path):
    def run(code, *, environment=None):
        run_command(
            [sys.executable, "-c", code],
            log_file=tmp_path / "log",
            writes_to=tmp_path,
            environment=environment,
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
