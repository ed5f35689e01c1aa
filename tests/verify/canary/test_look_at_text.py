"""Text that nobody could mean, and text that only looks like it."""

from __future__ import annotations

import random

import pytest

from tests.verify.canary.fakes import text_of
from trtspec.verify.arm import Answer
from trtspec.verify.canary.look_at_text import fault_of, look_at_text

GOOD = [text_of(f"p{i}", 40) for i in range(4)]
LOOP = "and so on, " * 20


def answer(text: str, tokens: tuple[int, ...] | None = None) -> Answer:
    return Answer("a", tokens, text)


@pytest.mark.parametrize(
    ("text", "tokens", "fault"),
    [
        (GOOD[0], None, ""),
        ("", None, "empty"),
        (" \n", None, "empty"),
        (LOOP, None, "over and over"),
        ("!" * 80, (0,) * 64, "over and over"),
        ("fine " + "!" * 80, (4211, 87, *(0,) * 62), "over and over"),
        ("yes yes yes", (5, 5, 5), ""),
        ("\ufffd" * 30 + GOOD[1], None, "no characters"),
        (GOOD[2] + "\ufffd", None, ""),
    ],
)
def test_faults_of_one_text(text, tokens, fault):
    found = fault_of(answer(text, tokens))

    assert fault in found
    assert bool(found) == bool(fault)


@pytest.mark.parametrize(
    ("texts", "verdict"),
    [
        (GOOD, "pass"),
        ([*GOOD, *GOOD, LOOP], "pass"),
        ([*GOOD[:3], LOOP], "fail"),
        ([""] * 4, "fail"),
    ],
)
def test_one_bad_text_among_many_is_no_fault(texts, verdict):
    check = look_at_text([answer(text) for text in texts])

    assert check.verdict == verdict
    assert str(len(texts)) in check.what


def test_random_tokens_are_no_text():
    chance = random.Random(1)
    pieces = ["".join(chance.choices("aeioubcdfglmnprst", k=6)) for _ in range(3000)]
    texts = [" ".join(chance.sample(pieces, 150)) for _ in range(4)]

    check = look_at_text([answer(text) for text in texts])
    assert check.verdict == "fail"
    assert "random tokens" in check.what
