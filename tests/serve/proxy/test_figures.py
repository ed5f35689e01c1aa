"""What an answer tells of speculation: counts where they follow, null elsewhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.serve.proxy.figures import AVERAGE, figures


@given(st.lists(st.integers(0, 5), max_size=30))
def test_steps_and_accepted_tokens_follow_from_the_mean(accepted):
    """Each step gives one token and what it accepted; the prefill gives the first."""
    tokens = 1 + sum(1 + a for a in accepted)
    average = tokens / (1 + len(accepted))
    found = figures("ngram", "", {AVERAGE: average}, tokens)
    assert (found.steps, found.accepted) == (len(accepted), sum(accepted))
    if accepted:
        assert found.acceptance_length == 1 + sum(accepted) / len(accepted)
    assert found.drafted is None
    assert found.acceptance_rate is None


@pytest.mark.parametrize("average", [None, "2", True, -1, float("nan"), 0, 0.5, []])
@pytest.mark.parametrize("tokens", [None, 0, 5])
def test_what_makes_no_sense_is_null(average, tokens):
    found = figures("ngram", "", {AVERAGE: average}, tokens)
    assert (found.steps, found.accepted, found.acceptance_length) == (None,) * 3


def test_counts_of_a_whole_request_are_none_of_a_choice():
    found = figures("ngram", "", {AVERAGE: 2.0}, None)
    assert (found.steps, found.accepted, found.acceptance_length) == (None,) * 3


def test_method_none_drafts_nothing():
    found = figures("none", "", {AVERAGE: 1.0}, 5)
    assert (found.enabled, found.drafted, found.steps, found.accepted) == (
        False,
        0,
        4,
        0,
    )
