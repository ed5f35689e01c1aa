"""What the fuzz tests look for is found where it is."""

import pytest

from tests.check import fuzz
from tests.check.fuzz import assert_said_well, attempt
from trtspec.check.finding import Finding
from trtspec.errors import UsageError

GOOD = Finding("rule", "blocking", "recipe.yaml:3", "what", "why", "do this")


def refuse(**parts):
    raise UsageError("it is so", **parts)


def turn_for_ever():
    while True:
        pass


def test_a_refusal_with_its_place_is_fine():
    assert attempt(lambda: refuse(where="config.json")) is None
    assert attempt(lambda: 8) == 8


@pytest.mark.parametrize(
    "bad",
    [
        refuse,
        lambda: refuse(where="config.json", action=f"remove {object()}"),
        lambda: refuse(where="config.json", allowed="<class 'int'>"),
    ],
)
def test_a_refusal_without_its_place_or_in_other_words_fails(bad):
    with pytest.raises(AssertionError):
        attempt(bad)


def test_any_other_error_comes_through():
    with pytest.raises(KeyError):
        attempt({}.__getitem__, "absent")


def test_what_takes_too_long_fails(monkeypatch):
    monkeypatch.setattr(fuzz, "LONGEST", 0.01)
    with pytest.raises(AssertionError, match="takes more than"):
        attempt(turn_for_ever)


def test_a_rule_that_failed_fails():
    failed = Finding("rule-failed", "blocking", "recipe.yaml:1", "what", "why", "do")
    with pytest.raises(AssertionError, match="rule-failed"):
        assert_said_well([failed])


@pytest.mark.parametrize(
    "changes",
    [
        {"where": ""},
        {"what": " "},
        {"why": "", "action": ""},
        {"why": "Traceback (most recent call last)"},
        {"snippet": "# nothing"},
    ],
)
def test_findings_that_say_too_little_fail(changes):
    parts = {"where": GOOD.where, "what": GOOD.what, "why": "why", "action": "do"}
    assert_said_well([GOOD])
    with pytest.raises(AssertionError):
        assert_said_well([Finding("rule", "blocking", **{**parts, **changes})])
