"""Acceptance at its floor, at its ceiling, always the same, and lost."""

from __future__ import annotations

import random

import pytest

from trtspec.verify.arm import Answer
from trtspec.verify.canary.look_at_drafts import (
    drafting,
    look_at_drafts,
    look_at_loss,
)
from trtspec.verify.canary.record import Drafting


def answers(*told: tuple[int | None, int | None], steps=()) -> list[Answer]:
    steps = steps or (None,) * len(told)
    return [
        Answer(f"{i}", None, "text", drafted=d, accepted=a, steps=s)
        for i, ((d, a), s) in enumerate(zip(told, steps, strict=True))
    ]


def looked(*told, always_drafts=True, steps=()):
    given = answers(*told, steps=steps)
    return look_at_drafts(given, drafting(given, 1), always_drafts=always_drafts)


@pytest.mark.parametrize(
    ("told", "verdict", "word"),
    [
        ([(120, 60), (120, 40)], "pass", "rate 0.42"),
        ([(120, 0), (120, 0)], "fail", "does nothing"),
        ([(120, 120), (120, 120)], "fail", "ceiling"),
        ([(120, 119), (120, 118)], "pass", "rate"),
        ([(0, 0), (0, 0)], "fail", "nothing was drafted"),
        ([(30, 0), (30, 0)], "cannot tell", "too few"),
        ([(30, 30), (30, 30)], "cannot tell", "too few"),
        ([(120, 60), (None, None)], "cannot tell", "does not tell"),
        ([(120, 60), (120, None)], "cannot tell", "does not tell"),
    ],
)
def test_floor_and_ceiling(told, verdict, word):
    check = looked(*told)

    assert check.verdict == verdict
    assert word in check.what


def test_a_drafter_that_may_find_nothing_is_no_fault():
    assert looked((0, 0), (0, 0), always_drafts=False).verdict == "cannot tell"


@pytest.mark.parametrize(
    ("told", "steps", "verdict"),
    [
        # a tree of ten nodes at its full depth of 3, in every step
        ([(200, 60), (160, 48), (240, 72)], (20, 16, 24), "fail"),
        ([(200, 60), (160, 40), (240, 72)], (20, 16, 24), "pass"),
        ([(200, 60), (160, 48), (240, 72)], (20, 16, None), "pass"),
        ([(200, 60), (110, 33), (240, 72)], (20, 11, 24), "pass"),
        ([(200, 60), (160, 48)], (20, 16), "pass"),
    ],
)
def test_the_same_number_in_every_step_is_no_drafters_doing(told, steps, verdict):
    assert looked(*told, steps=steps).verdict == verdict


def seen(drafted: int | None, accepted: int | None) -> Drafting:
    rate = accepted / drafted if drafted and accepted is not None else None
    return Drafting(
        requests=4, at_once=1, drafted=drafted, accepted=accepted, rate=rate
    )


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        ((240, 120), (240, 120), "pass"),
        ((240, 120), (240, 110), "pass"),
        ((240, 46), (240, 7), "fail"),  # pull request 18280: 0.19 to 0.03
        ((240, 120), (240, 60), "fail"),
        ((40, 20), (40, 14), "cannot tell"),  # less, and no more than chance
        ((40, 30), (40, 2), "fail"),  # few, and beyond chance
        ((240, 120), (240, 200), "pass"),
        ((240, 120), (0, 0), "fail"),
        ((0, 0), (240, 120), "cannot tell"),
        ((None, None), (240, 120), "cannot tell"),
        ((240, 120), (None, None), "cannot tell"),
        ((40, 20), (40, 20), "cannot tell"),
        ((2000, 1000), (2000, 900), "pass"),  # beyond chance, and small
    ],
)
def test_loss_is_beyond_chance_and_beyond_a_trifle(before, after, verdict):
    assert look_at_loss("repeat", seen(*before), seen(*after)).verdict == verdict


def test_chance_alone_seldom_fails():
    """With one rate for both, at most 1 in 100 of 2000 pairs is called a loss."""
    chance = random.Random(5)
    lost = 0
    for _ in range(2000):
        one, other = (sum(chance.random() < 0.4 for _ in range(200)) for _ in range(2))
        check = look_at_loss("repeat", seen(200, one), seen(200, other))
        lost += check.verdict == "fail"
    assert lost <= 20
