"""Along a known text every token's rank is noted, as deep as a tree may go."""

from __future__ import annotations

import pytest
import torch

from trtspec.reference.candidates import VocabularyMap
from trtspec.reference.chance import SeededChance
from trtspec.reference.drafters import DraftContext
from trtspec.reference.growth.following import FollowingPlan
from trtspec.run import SamplingParams

LOGITS = torch.tensor([[0.0, 3.0, 2.0, 1.0]])
"""Ranks: 1, 2, 3, 0."""


def context(limit: int) -> DraftContext:
    return DraftContext([5], limit, SamplingParams(), SeededChance(0))


def follow(text, *, ranks=4, depth=9, limit=9, vocabulary=None):
    """Grow until nothing is to be read any more; gives the growth."""
    plan = FollowingPlan([text], ranks, depth)
    growth = plan.start(context(limit), vocabulary, 20)
    rounds = 0
    unread = [-1]
    while unread:
        unread = growth.grow(LOGITS)
        rounds += 1
    return growth, rounds


@pytest.mark.parametrize(
    ("text", "ranks"),
    [((1, 2, 3), (0, 1, 2)), ((0,), (3,)), ((1, 1), (0, 0)), ((), ())],
)
def test_ranks_are_those_of_the_text(text, ranks):
    growth, _ = follow(text)
    assert growth.ranks == ranks
    assert growth.tree().tokens == text
    assert growth.tree().is_chain


def test_what_is_not_among_the_likeliest_ends_it():
    growth, rounds = follow((1, 3, 1), ranks=2)
    assert growth.ranks == (0, -1)
    assert growth.tree().tokens == (1,)
    assert rounds == 2


@pytest.mark.parametrize(("depth", "limit"), [(2, 9), (9, 2), (2, 2)])
def test_it_is_no_deeper_than_a_tree_or_the_answer(depth, limit):
    growth, rounds = follow((1, 1, 1, 1), depth=depth, limit=limit)
    assert growth.ranks == (0, 0)
    assert rounds == 2


def test_ranks_are_of_the_targets_tokens():
    ids = VocabularyMap(torch.tensor([10, 11, 12, 13]), 20)
    growth, _ = follow((11, 13), vocabulary=ids)
    assert growth.ranks == (0, 2)
    growth, _ = follow((1,), vocabulary=ids)
    assert growth.ranks == (-1,)


def test_each_tree_has_its_own_text():
    plan = FollowingPlan([(1,), (2,)], 4, 3)
    first, second = (plan.start(context(3), None, 20) for _ in range(2))
    first.grow(LOGITS), second.grow(LOGITS)
    assert (first.ranks, second.ranks) == ((0,), (1,))
    assert plan.growths == [first, second]


def test_it_has_to_have_room():
    plan = FollowingPlan([(1, 1, 1)], 4, 5)
    with pytest.raises(AssertionError):
        plan.start(context(5), None, 3)
