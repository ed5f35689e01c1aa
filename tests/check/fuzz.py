"""What holds for anything at all: words in our form, within a time, or nothing wrong.

``TRTSPEC_FUZZ=10000 pytest tests/check/test_fuzz_recipes.py`` tries that many examples.
"""

import os
import re
import signal
from contextlib import contextmanager

import yaml
from hypothesis import HealthCheck, settings

from trtspec.errors import TrtspecError

EXAMPLES = int(os.environ.get("TRTSPEC_FUZZ", "80"))
LONGEST = 20.0
"""Seconds of this process's own time that one example may take."""

_NOT_OURS = re.compile(r"Traceback|object at 0x|<class '|<function |<bound |NoneType")


def fuzzed(share=1.0):
    """Give the settings of a fuzz test.

    :param share: of the examples that are asked for.
    """
    return settings(
        max_examples=max(1, int(EXAMPLES * share)),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def no_hang():
    """Fail what takes too long, by the time that this process itself has spent."""

    def too_long(_number, _frame):
        raise AssertionError(f"takes more than {LONGEST} seconds")

    before = signal.signal(signal.SIGVTALRM, too_long)
    signal.setitimer(signal.ITIMER_VIRTUAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def attempt(function, *arguments):
    """Call what may only refuse in our words; None if it does."""
    problems = ()
    try:
        with no_hang():
            return function(*arguments)
    except TrtspecError as error:
        problems = error.problems
    assert problems, "an error says what is wrong"
    for problem in problems:
        assert problem.what, problem
        assert problem.where, problem
        assert not _NOT_OURS.search(str(problem)), str(problem)
    return None


def assert_said_well(findings):
    """Hold findings against what a reader needs: place, statement, and what to do.

    None may be that a rule of ours failed.
    """
    for finding in findings:
        text = "\n".join((finding.what, finding.why, finding.action, finding.snippet))
        assert finding.rule, finding
        assert finding.rule != "rule-failed", finding
        assert finding.where, finding
        assert finding.what.strip(), finding
        assert not _NOT_OURS.search(text), text
        if finding.severity == "blocking":
            assert finding.why or finding.action or finding.snippet, finding
        if finding.snippet:
            assert yaml.safe_load(finding.snippet), "YAML lines, or a command"
