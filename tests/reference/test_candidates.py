"""Candidates of a draft tree: the likeliest, or drawn with the distribution told."""

from __future__ import annotations

from collections import defaultdict

import pytest
import torch

from tests.reference.enumeration import outcomes
from trtspec.errors import RunError
from trtspec.reference.candidates import (
    VocabularyMap,
    drawn,
    in_target_vocabulary,
    likeliest,
    siblings,
)
from trtspec.reference.chance import SeededChance
from trtspec.run import SamplingParams

Q = torch.tensor([0.5, 0.0, 0.3, 0.2], dtype=torch.float64)


def test_the_likeliest_come_in_falling_order_as_point_masses():
    chosen = likeliest(torch.tensor([0.1, 3.0, -1.0, 2.0]), 3)
    assert chosen == [(1, None), (3, None), (0, None)]


def test_more_than_there_are_gives_all():
    assert len(likeliest(torch.randn(4), 9)) == 4


def test_a_smaller_vocabulary_names_the_targets_tokens():
    vocabulary = VocabularyMap(torch.tensor([2, 5, 7]), 9)
    assert likeliest(torch.tensor([0.0, 1.0, 2.0]), 2, vocabulary) == [
        (7, None),
        (5, None),
    ]
    spread = vocabulary.spread(torch.tensor([0.2, 0.3, 0.5]))
    assert spread.nonzero()[:, 0].tolist() == [2, 5, 7]
    assert float(spread.sum()) == pytest.approx(1)


def test_tokens_are_drawn_as_often_as_without_replacement():
    found = defaultdict(float)
    for weight, pair in outcomes(
        lambda chance: tuple(c.token for c in drawn(Q, 2, chance))
    ):
        found[pair] += weight
    for (first, second), weight in found.items():
        expected = float(Q[first] * Q[second] / (1 - Q[first]))
        assert weight == pytest.approx(expected, abs=1e-12)
    assert sum(found.values()) == pytest.approx(1, abs=1e-12)


def test_each_proposal_lacks_the_earlier_tokens():
    first, second, third = drawn(Q, 3, SeededChance(4))
    assert torch.equal(first.proposal, Q)
    assert second.proposal[first.token] == 0
    assert third.proposal[[first.token, second.token]].sum() == 0
    for candidate in (first, second, third):
        assert float(candidate.proposal.sum()) == pytest.approx(1)
        assert candidate.proposal[candidate.token] > 0


def test_no_more_are_drawn_than_are_possible():
    assert sorted(c.token for c in drawn(Q, 4, SeededChance(0))) == [0, 2, 3]


def test_a_sampled_request_gets_the_restricted_distribution():
    sampling = SamplingParams(temperature=0.5, top_k=2)
    logits = torch.tensor([1.0, 2.0, 3.0])
    (candidate,) = siblings(logits, 1, sampling, SeededChance(1))
    assert candidate.proposal[0] == 0
    ratio = float(candidate.proposal[2] / candidate.proposal[1])
    assert ratio == pytest.approx(torch.e**2)
    assert siblings(logits, 1, SamplingParams(), SeededChance(1)) == [(2, None)]


def test_padding_rows_are_cut_or_made_impossible():
    logits = torch.zeros(2, 3)
    assert in_target_vocabulary(logits, 2).shape == (2, 2)
    assert in_target_vocabulary(logits, 5)[0, 3:].tolist() == [-torch.inf] * 2


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_logits_that_tell_no_distribution_are_refused(value):
    logits = torch.tensor([1.0, value, 3.0])
    with pytest.raises(RunError, match="not finite"):
        siblings(logits, 1, SamplingParams(temperature=1.0), SeededChance(1))
