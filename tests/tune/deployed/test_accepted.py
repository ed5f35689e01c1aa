"""Shorter drafts are told from answers that were decoded with the longest."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.bench.outcome import Outcome
from trtspec.run import DraftStep
from trtspec.tune.deployed.accepted import chances_of, trace_of
from trtspec.tune.drawn import drawn
from trtspec.tune.steady import walked


def outcome(accepted=(), *, told=True, longest=4, name="p") -> Outcome:
    """An answer whose steps accepted so much."""
    steps = tuple(DraftStep(longest, longest, a) for a in accepted)
    return Outcome(
        name,
        0.0,
        0.0,
        ((0.0, 1), (1.0, sum(accepted) + len(accepted))),
        7,
        1 + sum(accepted) + len(accepted),
        "length",
        "",
        steps=len(steps),
        accepted=sum(accepted),
        draft_steps=steps if told else None,
    )


def test_each_depth_is_counted_where_steps_are_told():
    found = chances_of(outcome([4, 0, 2, 1, 3, 0]), 4)
    assert found == pytest.approx((4 / 5, 3 / 5, 2 / 5, 1 / 5))


def test_the_last_step_may_have_been_cut_and_does_not_count():
    assert chances_of(outcome([2, 2, 0]), 2) == (1.0, 1.0)
    assert chances_of(outcome([2]), 2) == (1.0, 1.0)


@given(st.floats(0.05, 3.9), st.integers(4, 9))
def test_of_sums_one_chance_per_token_gives_what_was_accepted(accepted, longest):
    one = outcome([1], told=False)
    steps = 1000
    some = Outcome(
        **{f: getattr(one, f) for f in one.__slots__}
        | {"steps": steps, "accepted": round(accepted * steps)}
    )
    found = chances_of(some, longest)
    assert sum(found) == pytest.approx(round(accepted * steps) / steps, abs=1e-6)
    assert all(b / a == pytest.approx(found[0]) for a, b in pairwise(found))


@pytest.mark.parametrize("accepted", [[0, 0, 0], []])
def test_a_drafter_that_never_hits_has_no_chance(accepted):
    for told in (True, False):
        assert chances_of(outcome(accepted, told=told), 3) == (0.0, 0.0, 0.0)


def test_all_accepted_is_a_chance_of_1():
    assert chances_of(outcome([3, 3], told=False, longest=3), 3) == (1.0, 1.0, 1.0)


def test_its_courses_bring_as_many_tokens_as_were_seen():
    """Of the longest draft; and of a shorter one, what the same steps had of it."""
    accepted = [4, 1, 0, 2, 4, 3, 0, 1] * 20
    one = trace_of(outcome([*accepted, 0]), 4, 999, "")
    courses = [trace for course in drawn([one], 20) for trace in course]
    for length in (1, 2, 4):
        kept = [min(a, length) for a in accepted]
        expected = 1 + sum(kept) / len(kept)
        assert walked(courses, length).tokens_per_step == pytest.approx(
            expected, rel=0.05
        )


def test_a_trace_says_whose_it_is():
    found = trace_of(outcome([1, 2]), 4, 30, "code")
    assert (found.prompt_id, found.category) == ("p", "code")
    assert (found.prompt_tokens, found.limit, found.emitted) == (7, 30, 6)
    assert len(found.chances) == 5


def test_an_answer_of_one_token_has_no_place():
    one = Outcome("p", 0.0, 0.0, ((0.0, 1),), 7, 1, "stop", "", steps=0, accepted=0)
    assert trace_of(one, 4, 30, "").chances == ()
