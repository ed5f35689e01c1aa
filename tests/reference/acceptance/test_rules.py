"""A method's ``acceptance`` names the rule."""

from __future__ import annotations

import pytest

from trtspec.methods import Eagle, Medusa, Mtp, NGram, NoSpeculation
from trtspec.reference.acceptance import (
    LossyRelaxed,
    LossyTypical,
    accept_exactly,
    rule_for,
)


@pytest.mark.parametrize(
    "method",
    [
        NoSpeculation(method="none"),
        NGram(method="ngram", draft_length=3),
        Eagle(method="eagle", model="./head"),
        Mtp(method="mtp", draft_length=2),
    ],
    ids=lambda method: method.method,
)
def test_acceptance_is_exact_unless_the_recipe_says_otherwise(method):
    assert rule_for(method) is accept_exactly


@pytest.mark.parametrize("kind", [Eagle, Medusa])
def test_typical_takes_its_threshold(kind):
    method = kind(
        method=kind.__name__.lower(),
        model="./head",
        acceptance="typical",
        posterior_threshold=0.2,
    )
    assert rule_for(method) == LossyTypical(0.2)


@pytest.mark.parametrize(
    ("own", "thinking"), [(None, (128798, 128799)), ((5, 6), (5, 6))]
)
def test_relaxed_takes_its_margin_and_the_thinking_tokens(own, thinking):
    method = Mtp(
        method="mtp",
        draft_length=2,
        acceptance="relaxed",
        relaxed_top_k=10,
        relaxed_delta=0.6,
        thinking_tokens=own,
    )
    assert rule_for(method) == LossyRelaxed(10, 0.6, thinking)
