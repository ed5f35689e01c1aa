"""A command that goes on though nobody reads what it says."""

import os
import subprocess
import sys

import pytest

from trtspec.cli.unheard import unheard

SAYS = """
import sys, click
from trtspec.build.progress import Progress
from trtspec.cli.unheard import unheard, unheard_progress
progress = unheard_progress(Progress(lambda text: click.echo(text, err=True)))
say = unheard(click.echo)
sys.stdin.readline()
for text in ("one", "two"):
    say(text)
    progress.line(text)
sys.exit(3)
"""


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_reader_that_is_gone_changes_nothing(closed):
    process = subprocess.Popen(
        [sys.executable, "-c", SAYS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    getattr(process, closed).close()
    process.stdin.write(b"go on\n")
    process.stdin.flush()
    other = process.stderr if closed == "stdout" else process.stdout
    assert other.read() == b"one\ntwo\n"
    other.close()
    process.stdin.close()
    assert process.wait(60) == 3


def test_other_errors_are_errors():
    def full(text):
        raise OSError(28, os.strerror(28))

    with pytest.raises(OSError, match="No space"):
        unheard(full)("x")
