"""Trees of a given shape: which nodes there are, and what each was drawn from."""

from __future__ import annotations

import pytest
import torch

from trtspec.methods.trees import NAMED_TREES
from trtspec.reference.candidates import VocabularyMap
from trtspec.reference.chance import SeededChance
from trtspec.reference.drafters.base import DraftContext
from trtspec.reference.growth import ChainPlan, StaticPlan
from trtspec.reference.tree import ROOT
from trtspec.run import SamplingParams

PATHS = ((1,), (0,), (0, 1), (0, 0), (1, 0), (0, 0, 0))
ROOM = 100


def context(limit=9, *, seed=None, **sampling) -> DraftContext:
    params = SamplingParams(temperature=1.0, seed=seed, **sampling)
    params = SamplingParams() if seed is None else params
    return DraftContext([0], limit, params, SeededChance(seed or 0))


def logits_after(token: int, size: int = 8) -> torch.Tensor:
    """A different order of likelihood after each token."""
    generator = torch.Generator().manual_seed(token)
    return torch.randn(size, generator=generator) * 2


def grown(plan, asked, vocabulary=None):
    """Let a tree grow on ``logits_after``; also the levels that were read."""
    growth = plan.start(asked, vocabulary, ROOM)
    levels, unread = [], [ROOT]
    while unread:
        tokens = [99 if node == ROOT else growth.tokens[node] for node in unread]
        unread = growth.grow(torch.stack([logits_after(token) for token in tokens]))
        levels.append(unread)
    return growth.tree(), levels


def paths_by_rank(tree) -> set[tuple[int, ...]]:
    """Each node's path of ranks among its siblings' likeliest tokens."""
    paths: dict[int, tuple[int, ...]] = {ROOT: ()}
    for node, (token, parent) in enumerate(zip(tree.tokens, tree.parents, strict=True)):
        after = 99 if parent == ROOT else tree.tokens[parent]
        order = logits_after(after).argsort(descending=True).tolist()
        paths[node] = (*paths[parent], order.index(token))
    return {path for path in paths.values() if path}


def test_a_greedy_tree_has_the_likeliest_tokens_at_their_ranks():
    tree, levels = grown(StaticPlan.of(PATHS), context())
    assert paths_by_rank(tree) == set(PATHS)
    assert tree.proposals == ()
    assert [len(level) for level in levels] == [2, 1, 0]  # leaves are not read


def test_siblings_stand_in_the_order_of_their_ranks():
    tree, _ = grown(StaticPlan.of(PATHS), context())
    order = logits_after(99).argsort(descending=True).tolist()
    assert [tree.tokens[node] for node in tree.children(ROOT)] == order[:2]


def test_ranks_may_be_left_out():
    tree, _ = grown(StaticPlan.of(((0,), (2,), (2, 1))), context())
    assert paths_by_rank(tree) == {(0,), (2,), (2, 1)}


@pytest.mark.parametrize("limit", [1, 2, 3])
def test_the_limit_cuts_levels_off(limit):
    tree, levels = grown(StaticPlan.of(PATHS), context(limit))
    assert paths_by_rank(tree) == {path for path in PATHS if len(path) <= limit}
    assert len(levels) == limit


def test_the_named_tree_grows_whole():
    paths = NAMED_TREES["mc_sim_7b_63"]
    plan = StaticPlan.of(paths)
    wide = plan.start(context(), None, ROOM)
    unread = [ROOT]
    while unread:
        unread = wide.grow(torch.randn(len(unread), 50))
    assert len(wide.tree()) == len(paths)
    assert plan.read_nodes == len({path[:-1] for path in paths if len(path) > 1})


def test_a_chain_is_as_long_as_asked_for():
    plan = ChainPlan(6)
    assert plan.read_nodes == 5
    for limit in (1, 4):
        tree, levels = grown(plan, context(limit))
        assert len(tree) == limit
        assert tree.is_chain
        assert len(levels) == limit


def test_sampled_siblings_are_drawn_without_replacement():
    tree, _ = grown(StaticPlan.of(PATHS), context(seed=3))
    for parent in (ROOT, *range(len(tree))):
        after = 99 if parent == ROOT else tree.tokens[parent]
        left = logits_after(after).double().softmax(0)
        for child in tree.children(parent):
            torch.testing.assert_close(tree.proposal(child), left)
            left = left.clone()
            left[tree.tokens[child]] = 0
            left = left / left.sum()


def test_another_seed_draws_another_tree_of_the_same_shape():
    trees = [grown(StaticPlan.of(PATHS), context(seed=s))[0] for s in range(8)]
    assert len({tree.tokens for tree in trees}) > 4
    assert {len(tree) for tree in trees} == {len(PATHS)}


def test_fewer_possible_tokens_than_siblings_leave_nodes_out():
    plan = StaticPlan.of(((0,), (1,), (2,), (2, 0), (0, 0)))
    tree, _ = grown(plan, context(seed=1, top_k=2))
    assert [tree.parents.count(parent) for parent in (ROOT, 0)] == [2, 1]
    assert len(tree) == 3


@pytest.mark.parametrize("seed", [None, 4])
def test_tokens_and_proposals_are_the_targets(seed):
    vocabulary = VocabularyMap(torch.arange(1, 9) * 3, size=30)
    tree, _ = grown(ChainPlan(3), context(3, seed=seed), vocabulary)
    assert all(token in vocabulary.ids for token in tree.tokens)
    for node in range(len(tree)):
        q = tree.proposal(node)
        if seed is not None:
            assert q.shape == (30,)
            assert q[tree.tokens[node]] > 0
            assert float(q.sum()) == pytest.approx(1)
