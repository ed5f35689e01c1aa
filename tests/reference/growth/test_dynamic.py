"""Dynamic trees are EAGLE-2's: expand and rerank by the product of probabilities."""

from __future__ import annotations

import itertools

import pytest
import torch

from tests.reference.paths import path_to
from trtspec.reference.candidates import VocabularyMap
from trtspec.reference.chance import SeededChance
from trtspec.reference.drafters.base import DraftContext
from trtspec.reference.growth import DynamicPlan
from trtspec.reference.tree import ROOT
from trtspec.run import SamplingParams

SIZE = 9


def logits_after(path: tuple[int, ...], seed: int) -> torch.Tensor:
    place = sum((t + 2) * 31**i for i, t in enumerate(path))
    generator = torch.Generator().manual_seed(seed * 100_003 + place)
    return torch.randn(SIZE, generator=generator) * 1.5


def grow(plan, seed, limit=99, vocabulary=None, room=1000):
    """Let a tree grow; also how many nodes were read."""
    asked = DraftContext([0], limit, SamplingParams(), SeededChance(0))
    growth = plan.start(asked, vocabulary, room)
    unread, read = [ROOT], 0
    while unread:
        logits = [logits_after(path_to(growth, node), seed) for node in unread]
        unread = growth.grow(torch.stack(logits))
        read += len(unread)
    tree = growth.tree()
    return {path_to(tree, node) for node in range(len(tree))}, read


def as_published(plan: DynamicPlan, seed: int) -> set[tuple[int, ...]]:
    """EAGLE-2's algorithm (arXiv 2406.16858, section 4) without any short cut."""
    confidence = {(): 0.0}
    level = [()]
    for _ in range(plan.levels):
        children = {}
        for path in level:
            logarithms = logits_after(path, seed).log_softmax(0)
            top = logarithms.topk(plan.children)
            for token, value in zip(top.indices.tolist(), top.values, strict=True):
                children[(*path, token)] = confidence[path] + float(value)
        confidence |= children
        level = sorted(children, key=children.get, reverse=True)[: plan.expanded]
    del confidence[()]
    return set(sorted(confidence, key=confidence.get, reverse=True)[: plan.budget])


@pytest.mark.parametrize(
    ("children", "expanded", "levels", "budget"),
    list(itertools.product((2, 4), (2, 4), (1, 2, 4), (3, 10))),
)
def test_the_tree_is_the_published_one(children, expanded, levels, budget):
    plan = DynamicPlan(children, expanded, levels, budget)
    for seed in range(5):
        assert grow(plan, seed)[0] == as_published(plan, seed)


def test_what_cannot_be_kept_is_not_read():
    plan = DynamicPlan(children=4, expanded=4, levels=5, budget=4)
    read = [grow(plan, seed)[1] for seed in range(10)]
    assert max(read) <= plan.read_nodes
    assert sum(read) < 10 * plan.read_nodes / 2


@pytest.mark.parametrize("limit", [1, 2])
def test_the_limit_bounds_the_depth(limit):
    paths, _ = grow(DynamicPlan(3, 3, 4, 12), 0, limit)
    assert max(map(len, paths)) == limit


def test_no_more_is_read_than_there_is_room_for():
    plan = DynamicPlan(3, 3, 4, 12)
    for room in range(5):
        assert grow(plan, 1, room=room)[1] <= room


def test_equal_confidence_keeps_parents_before_children():
    """A certain token is as confident as its parent."""
    plan = DynamicPlan(children=1, expanded=1, levels=4, budget=2)
    growth = plan.start(
        DraftContext([0], 9, SamplingParams(), SeededChance(0)), None, 9
    )
    certain = torch.full((1, SIZE), -1e9)
    certain[0, 5] = 0.0
    while growth.grow(certain):
        pass
    tree = growth.tree()
    assert tree.parents == (ROOT, 0)


def test_tokens_are_the_targets():
    vocabulary = VocabularyMap(torch.arange(SIZE) + 20, size=40)
    asked = DraftContext([0], 1, SamplingParams(), SeededChance(0))
    growth = DynamicPlan(3, 3, 2, 3).start(asked, vocabulary, 9)
    growth.grow(logits_after((), 0)[None])
    best = logits_after((), 0).topk(3).indices + 20
    assert growth.tree().tokens == tuple(best.tolist())


def test_every_node_is_a_point_mass():
    asked = DraftContext([0], 2, SamplingParams(temperature=1.0), SeededChance(0))
    growth = DynamicPlan(3, 3, 2, 5).start(asked, None, 9)
    growth.grow(torch.randn(1, SIZE))
    assert growth.tree().proposals == ()
