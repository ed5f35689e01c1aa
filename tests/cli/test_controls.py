"""``--control NAME=VALUE``: the value is YAML, and every fault is told."""

from __future__ import annotations

import pytest

from trtspec.cli.controls import read_controls
from trtspec.errors import UsageError


def test_values_are_yaml():
    texts = [
        "min_tokens=3",
        "min_p=0.25",
        "bad=[one, two]",
        "guided_decoding={regex: 'a=b+'}",
        " top_p_decay = 0.9",
    ]
    assert read_controls(texts) == {
        "min_tokens": 3,
        "min_p": 0.25,
        "bad": ["one", "two"],
        "guided_decoding": {"regex": "a=b+"},
        "top_p_decay": 0.9,
    }
    assert read_controls([]) == {}


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["min_tokens"], "'min_tokens' has no name and value"),
        (["=3"], "'=3' has no name and value"),
        (["min_p=1", "min_p=2"], "min_p is given twice"),
        (["bad=[one"], "bad: '[one' cannot be taken: it is no YAML"),
        (["bad={a: b: c}"], "is no YAML"),
        (["min_p="], "min_p has no value"),
        (["min_p=~"], "min_p has no value"),
        (["min_p=.inf"], "min_p is inf"),
        (["repetition_penalty=.inf"], "repetition_penalty is inf"),
        (["presence_penalty=.nan"], "presence_penalty is nan"),
        (["frequency_penalty=-.inf"], "frequency_penalty is -inf"),
        (["min_tokens=3000000000"], "min_tokens is 3000000000"),
        (["min_tokens=three"], "min_tokens is 'three'"),
        (["bad=['']"], "bad is ['']"),
        (["bad=&a [*a]"], "bad: '&a [*a]' cannot be taken: it has an alias"),
        (["guided_decoding={json: &a {a: *a}}"], "it has an alias"),
        (["bad=" + "[" * 5000], "bad: '[[["),
        (["min_p=2026-13-45"], "month must be in 1..12"),
        (["guided_decoding={json: {a: 2026-01-01}}"], "not JSON serializable"),
        (["min_token=3"], "no sampling control 'min_token'"),
        (["temperature=1"], "temperature is set by trtspec itself"),
        (["n=2"], "n: a request has one output"),
    ],
)
def test_a_fault_is_told_with_the_option(texts, words):
    with pytest.raises(UsageError) as caught:
        read_controls(texts)
    (problem,) = caught.value.problems
    assert problem.where == "--control"
    assert words in problem.what


def test_every_control_at_fault_is_named_with_what_to_do():
    with pytest.raises(UsageError) as caught:
        read_controls(["temperature=1", "min_p=2", "nope=1", "min_tokens=2"])
    first, second, _ = caught.value.problems
    assert first.action == "use --temperature"
    assert second.allowed == "a number from 0 to 1"
