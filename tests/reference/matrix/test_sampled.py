"""Sampling through the whole engine follows the target, whatever drafts.

Negative controls must fail the same test: for every drafter one that accepts every
draft token; for every kind of candidates one that draws the token after a rejection
from the target's whole distribution.
"""

from __future__ import annotations

import pytest

from tests.reference.matrix.statistics import (
    exact_pairs,
    least_p_value,
    sampled_pairs,
    worst,
)
from tests.reference.toy_heads import TOYS
from trtspec.reference.acceptance import exact

REQUESTS = 850
FEW = 250  # enough to see that everything is accepted
NOT_SUSPICIOUS = 1e-3  # seeds are fixed: a passing test always passes
CAUGHT = 1e-9

RESTRICTED = {"temperature": 1.6, "top_k": 7, "top_p": 0.9}
KINDS = [
    "ngram",
    "draft_target",
    "tree drawn without replacement",
    "tree drawn with replacement",
    "tree of top-k candidates",
]
"""Every kind of candidates once."""
DRAFTING = [name for name in TOYS if name != "none"]

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", TOYS)
def test_sampled_tokens_follow_the_target(name):
    assert least_p_value(TOYS[name], REQUESTS) > NOT_SUSPICIOUS


@pytest.mark.parametrize("name", KINDS)
def test_they_do_at_another_temperature_with_fewer_tokens(name):
    assert least_p_value(TOYS[name], REQUESTS, **RESTRICTED) > NOT_SUSPICIOUS


@pytest.mark.parametrize("name", DRAFTING)
def test_negative_control_accepting_everything_fails(name, monkeypatch):
    monkeypatch.setattr(exact, "acceptance_probability", lambda p, q, token: 1.0)
    assert least_p_value(TOYS[name], FEW) < CAUGHT


@pytest.mark.parametrize("name", KINDS)
def test_negative_control_drawing_from_the_whole_target_fails(name, monkeypatch):
    """A rejected token of probability p, drawn again from p, comes out with p(2-p)."""
    monkeypatch.setattr(exact, "residual", lambda p, q, token: p)
    assert least_p_value(TOYS[name], REQUESTS) < CAUGHT


def test_negative_control_of_another_temperature_fails():
    counted = sampled_pairs(TOYS["draft_target"], REQUESTS, temperature=0.7)
    assert worst(counted, exact_pairs()) < CAUGHT
