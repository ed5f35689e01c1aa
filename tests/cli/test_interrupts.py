"""A signal during an import ends the command after it, never within it."""

import subprocess
import sys

import pytest

GREEDY_LIBRARY = """
import os, signal, time
try:
    os.kill(os.getpid(), signal.{signal})
    time.sleep(0.1)
except BaseException:
    print("swallowed")
print("imported")
"""

PROGRAM = """
import signal, time
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored
from trtspec.cli.interrupts import TerminatedError, raise_on_signals
raise_on_signals()
try:
    import greedy
    time.sleep(10)
    print("went on")
except (KeyboardInterrupt, TerminatedError) as error:
    print(type(error).__name__)
"""


@pytest.mark.parametrize(
    ("number", "raised"),
    [
        ("SIGINT", "KeyboardInterrupt"),
        ("SIGTERM", "TerminatedError"),
        ("SIGHUP", "TerminatedError"),
    ],
)
def test_a_library_cannot_swallow_an_interrupt(tmp_path, number, raised):
    (tmp_path / "greedy.py").write_text(GREEDY_LIBRARY.format(signal=number))
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert result.stdout.split() == ["imported", raised]
