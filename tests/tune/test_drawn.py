"""Courses that sampled decoding may take, drawn from the chances of a trace."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tune.made import candidate, costs, trace
from trtspec.tune.decide import Evidence, Question, decide
from trtspec.tune.drawn import drawn
from trtspec.tune.replay import walk
from trtspec.tune.steady import walked
from trtspec.tune.trace import PromptTrace


def sampled(chances, prompt_id: str = "p") -> PromptTrace:
    places = len(chances)
    return PromptTrace(
        prompt_id=prompt_id,
        prompt_tokens=3,
        limit=places + 9,
        emitted=places + 1,
        offered=tuple(map(len, chances)),
        accepted=(0,) * places,
        chances=tuple(map(tuple, chances)),
    )


def test_greedy_traces_have_one_course():
    traces = [trace([2, 1, 0])]
    assert drawn(traces) == [traces]


def test_certain_and_impossible_drafts():
    (course, *_) = drawn([sampled([(1.0, 1.0), (0.0, 0.0), (1.0, 0.0), ()])])
    assert course[0].accepted == (2, 0, 1, 0)
    assert course[0].chances is None


def test_lengths_come_out_as_often_as_their_chances():
    courses = drawn([sampled([(0.8, 0.5, 0.1)] * 50)], courses=200, seed=3)
    lengths = [a for course in courses for a in course[0].accepted]
    for length, chance in ((1, 0.8), (2, 0.5), (3, 0.1)):
        share = sum(a >= length for a in lengths) / len(lengths)
        assert share == pytest.approx(chance, abs=0.02)


def test_the_same_seed_draws_the_same():
    traces = [sampled([(0.5, 0.2)] * 20)]
    assert drawn(traces, seed=1) == drawn(traces, seed=1)
    assert drawn(traces, seed=1) != drawn(traces, seed=2)


chains = st.lists(st.floats(0, 1), max_size=4).map(lambda c: sorted(c, reverse=True))


@given(st.lists(chains, min_size=1, max_size=10))
def test_every_course_is_a_trace_that_can_be_replayed(chances):
    for course in drawn([sampled(chances)], courses=3):
        (one,) = course
        PromptTrace.model_validate(one.model_dump())
        assert sum(walk(one, 4)) >= 0


def test_courses_of_a_prompt_count_as_one_prompt():
    courses = drawn([sampled([(0.5,)] * 20), sampled([(0.1,)] * 20, "q")], courses=6)
    found = walked([one for course in courses for one in course], 1)
    assert len(found.contexts) == 2
    assert found.emitted.tolist() == [120, 120]


def test_a_choice_is_made_from_all_courses():
    courses = drawn([sampled([(0.9, 0.8)] * 30), sampled([(0.8, 0.7)] * 30, "q")])
    evidence = Evidence(
        candidate(2),
        [one for course in courses for one in course],
        costs({1: [1.0, 1.0, 1.0]}),
        courses=len(courses),
    )
    (choice,) = decide([evidence], Question((1,), (1,), 1))
    assert choice.draft_length == 2
    one_by_one = [
        decide(
            [Evidence(candidate(2), course, evidence.costs)], Question((1,), (1,), 1)
        )
        for course in courses
    ]
    gains = [found[0].gain(1) for found in one_by_one]
    assert min(gains) <= choice.gain(1) <= max(gains)
