"""Log-probabilities that an arm tells, beside the reference's own."""

from typing import NamedTuple

import numpy as np
import pytest

from trtspec.verify.arm import Answer
from trtspec.verify.greedy.tolerance import tolerance_for
from trtspec.verify.oracle.greedy import judge_tokens
from trtspec.verify.oracle.logprobs import compare_logprobs, judge_logprobs
from trtspec.verify.oracle.sentences import oracle_lines
from trtspec.verify.oracle.symbols import symbols_by_id, symbols_by_text

LOG = np.log(np.array([0.5, 0.25, 0.2, 0.05], np.float32))
PROMPTS = {"p0": (3, 9)}
BY_ID = symbols_by_id(4, {3})
BY_TEXT = symbols_by_text(["a", "b", "\ufffd", "\ufffd"], ())


class Said(NamedTuple):
    log: np.ndarray
    largest: np.ndarray


def said(prompt, output):
    assert prompt == (3, 9)
    return Said(np.stack([LOG] * len(output)), np.full(len(output), 20.0))


def told(off_by=0.0, tokens=(0, 1), names=(0, 1), place=1):
    rows = [tuple(zip(names, map(float, LOG), strict=False)) for _ in range(2)]
    rows[place] = tuple((name, value + off_by) for name, value in rows[place])
    pieces = ("a", "b") if tokens is None else None
    return Answer("p0", tokens, "", "length", logprobs=tuple(rows), pieces=pieces)


def compared(answer, symbols=BY_ID, dtype="bfloat16", arm="on"):
    tolerance = tolerance_for(dtype, "a test")
    return compare_logprobs(arm, {"p0": answer}, PROMPTS, said, symbols, tolerance)


def test_equal_ones_are_right():
    found = compared(told())
    assert (found.values, found.wrong.count) == (4, 0)
    assert found.largest == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize(
    ("dtype", "off_by", "wrong"),
    [
        ("bfloat16", 0.4, 0),
        ("bfloat16", 0.6, 2),
        ("float32", 0.0004, 0),
        ("float32", 0.01, 2),
    ],
)
def test_the_tolerance_is_that_of_a_near_tie(dtype, off_by, wrong):
    found = compared(told(off_by), dtype=dtype)
    assert found.wrong.count == wrong
    assert found.largest == pytest.approx(off_by, abs=1e-4)
    assert (found.prompt_id, found.position) == ("p0", 1)


def test_names_may_be_texts_and_those_of_several_tokens_are_left_out():
    found = compared(told(names=("a", "\ufffd"), tokens=None), BY_TEXT)
    assert found.values == 2
    unknown = compared(told(names=("a", "zz")), BY_TEXT)
    assert unknown.values == 2


def test_an_answer_that_ends_is_looked_at_to_its_end():
    assert compared(told(tokens=(0, 3))).values == 4


def test_what_tells_none_has_none():
    found = compared(Answer("p0", (0, 1), "", "length"))
    assert (found.values, found.wrong) == (0, None)


def arms(off, on):
    return [compared(told(off), arm="off"), compared(told(on), arm="on")]


def test_verdicts():
    assert judge_logprobs([]) == ("pass", ())
    assert judge_logprobs(arms(0, 0))[0] == "pass"
    assert judge_logprobs(arms(0, 3))[0] == "fail"
    verdict, (reason,) = judge_logprobs(arms(3, 3))
    assert verdict == "cannot tell"
    assert "those of on say nothing" in reason
    assert judge_logprobs(arms(3, 0))[0] == "pass"  # off's fault is not speculation's


def test_the_oracle_bears_them():
    from tests.verify.arms_fake import questions

    class Seen(NamedTuple):
        gap: float = 0.0
        largest: float = 20.0

    answers = {name: {"p0": told()} for name in ("off", "on")}
    found = judge_tokens(
        answers,
        questions(),
        lambda prompt, output: [Seen()] * len(output),
        tolerance_for("float32", "a test"),
        "toy",
        arms(0, 3),
    )
    assert found.verdict == "fail"
    assert "2 of 4" in found.reasons[0]
    assert "up to 3" in found.reasons[0]
    lines = oracle_lines(found)
    assert "on: 4 log-probabilities: 2 differ from the reference's" in lines[3]
