"""Completions compute the metrics as they are defined."""

import pytest

from trtspec.run import Completion, SamplingParams


def completion(tokens=4, **counts):
    return Completion(
        "r",
        3,
        tokens=list(range(tokens)),
        submitted_at=10.0,
        first_token_at=10.5,
        last_token_at=12.0,
        **counts,
    )


def test_times_are_differences_of_what_was_recorded():
    done = completion()
    assert done.ttft == pytest.approx(0.5)
    assert done.e2e == pytest.approx(2.0)
    assert done.tpot == pytest.approx(1.5 / 3)


def test_tpot_needs_two_tokens_and_times_need_one():
    assert completion(tokens=1).tpot is None
    nothing = completion(tokens=0)
    assert (nothing.ttft, nothing.e2e, nothing.tpot) == (None, None, None)


def test_acceptance_uses_what_was_really_drafted():
    done = completion(steps=4, drafted=10, accepted=6)
    assert done.acceptance_rate == pytest.approx(0.6)
    assert done.acceptance_length == pytest.approx(1 + 6 / 4)


def test_acceptance_is_undefined_without_drafts_or_steps():
    assert completion(steps=3).acceptance_rate is None
    assert completion(steps=3).acceptance_length == 1.0
    assert completion().acceptance_length is None


def test_temperature_zero_is_greedy():
    assert SamplingParams().greedy
    assert not SamplingParams(temperature=0.1).greedy
