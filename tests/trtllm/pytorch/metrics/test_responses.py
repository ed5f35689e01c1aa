"""A response's mean gives back the steps and accepted tokens it was made from."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.errors import RunError
from trtspec.trtllm.pytorch.metrics import from_response


def as_float(value):
    """Round to 32 bits, as TensorRT-LLM does."""
    return struct.unpack("f", struct.pack("f", value))[0]


def reported(accepted_per_step):
    """Tokens and mean of a request: a prefill's token, then 1 + accepted per step."""
    tokens = 1 + sum(1 + accepted for accepted in accepted_per_step)
    return tokens, as_float(tokens / (1 + len(accepted_per_step)))


def test_steps_and_accepted_come_back_from_the_mean():
    """Chunks of 1 (prefill), 4, 1, 3 tokens: three steps, 3 + 0 + 2 accepted."""
    tokens, mean = reported([3, 0, 2])
    assert (tokens, mean) == (9, 2.25)
    found = from_response(mean, tokens)
    assert (found.steps, found.accepted, found.tokens) == (3, 5, 9)
    assert found.acceptance_length == pytest.approx(1 + 5 / 3)
    assert found.acceptance_rate is None
    assert "derived" in found.note


@given(st.lists(st.integers(0, 15), min_size=1, max_size=500))
def test_any_request_comes_back(accepted_per_step):
    tokens, mean = reported(accepted_per_step)
    found = from_response(mean, tokens)
    assert found.steps == len(accepted_per_step)
    assert found.accepted == sum(accepted_per_step)


def test_without_tokens_the_mean_stands_as_reported():
    found = from_response(2.25)
    assert (found.acceptance_length, found.steps) == (2.25, None)
    assert "as reported" in found.note


def test_tokens_that_were_cut_off_do_not_give_wrong_counts():
    found = from_response(2.25, 8)  # a stop string of one token is gone
    assert (found.steps, found.acceptance_length) == (None, 2.25)


@pytest.mark.parametrize(
    ("mean", "tokens", "why"),
    [
        (None, 5, "no such field"),
        (0.0, 0, "no iteration"),
        (1.0, 1, "before the first draft"),
    ],
)
def test_what_is_not_there_says_so(mean, tokens, why):
    found = from_response(mean, tokens)
    assert not found.is_known
    assert why in found.unavailable


@pytest.mark.parametrize(
    ("mean", "tokens"),
    [(-1.0, 4), (0.5, 4), (float("nan"), 4), (True, 4), ("2", 4), (2.0, -1)],
)
def test_nonsense_is_refused_with_the_request(mean, tokens):
    with pytest.raises(RunError) as caught:
        from_response(mean, tokens, where="request r1")
    assert caught.value.problems[0].where == "request r1"
