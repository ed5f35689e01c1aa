"""The time of a step is told from requests that ran together."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.bench.outcome import Outcome, Pass
from trtspec.tune.deployed.paces import reading_seconds, step_seconds, tells_steps


def outcome(chunks, steps, name="r", prompt=4) -> Outcome:
    tokens = sum(count or 0 for _, count in chunks)
    return Outcome(
        name, 0.0, 0.0, tuple(chunks), prompt, tokens, "length", "", steps=steps
    )


def decoded(first: float, emitted, seconds: float, name="r") -> Outcome:
    """An answer whose steps take so long and emit so many tokens each."""
    chunks = [(first, 1)]
    chunks += [(first + n * seconds, e) for n, e in enumerate(emitted, 1)]
    return outcome(chunks, len(emitted), name)


def test_alone_it_is_the_time_of_all_steps_by_their_number():
    assert step_seconds([decoded(2.0, [3, 1, 2], 0.5)]) == pytest.approx(0.5)


def test_plain_decoding_is_the_time_per_token():
    assert step_seconds([decoded(1.0, [1] * 9, 0.25)]) == pytest.approx(0.25)


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(6, 12)), min_size=1, max_size=4)
)
def test_requests_in_step_with_one_another_give_that_steps_time(requests):
    """However many tokens each emits, and whenever it ends."""
    done = [decoded(1.0, [e] * n, 0.1, f"r{i}") for i, (e, n) in enumerate(requests)]
    assert step_seconds(done) == pytest.approx(0.1)


def test_what_one_does_alone_does_not_count():
    """The first waits for the second's prompt, and goes on faster when it has ended."""
    alone = [(0.0, 1), (5.0, 1)]
    together = [(5.0 + 0.2 * n, 1) for n in range(1, 11)]
    after = [(7.0 + 0.01 * n, 1) for n in range(1, 5)]
    one = outcome([*alone, *together, *after], 15)
    other = decoded(5.0, [1] * 10, 0.2, "other")
    assert step_seconds([one, other]) == pytest.approx(0.2)


def test_chunks_that_come_together_change_nothing():
    one = outcome([(0.0, 1), (1.0, 4), (2.0, 4)], 4)
    assert step_seconds([one]) == pytest.approx(0.5)


def test_of_first_and_last_token_alone_the_mean_is_taken():
    ends = Outcome("r", 0, 0, ((1.0, None), (3.0, None)), 4, 9, "length", "", steps=4)
    assert step_seconds([ends]) == pytest.approx(0.5)


def test_nothing_in_common_gives_no_time():
    first, later = decoded(0.0, [1, 1], 0.1), decoded(9.0, [1, 1], 0.1, "later")
    assert step_seconds([first, later]) is None
    assert step_seconds([outcome([(1.0, 1)], 0)]) is None


def test_whether_steps_are_told():
    assert tells_steps(outcome([(0.0, 1), (1.0, 2)], 1))
    assert tells_steps(outcome([(0.0, 1)], 0))
    assert not tells_steps(outcome([(0.0, 1), (1.0, 2)], 0))
    assert not tells_steps(outcome([(0.0, 1), (1.0, 2)], None))


def test_prompts_are_read_until_the_last_first_token():
    done = (decoded(2.0, [1], 0.1), decoded(3.0, [1], 0.1))
    assert reading_seconds(Pass(done, None, 1.0, 9.0)) == pytest.approx(2.0 / 8)
