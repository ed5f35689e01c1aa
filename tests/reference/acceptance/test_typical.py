"""Typical acceptance follows its formula, and is lossy."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.acceptance.tables import (
    PLAIN,
    TWO,
    UNBALANCED,
    Table,
    chosen,
    emitted_blocks,
    grown,
    largest_error,
    verified,
)
from trtspec.reference.acceptance import LossyTypical, Verified, accept_exactly
from trtspec.reference.acceptance.typical import typical
from trtspec.reference.chance import SeededChance
from trtspec.reference.tree import NO_DRAFT, ROOT, DraftTree
from trtspec.run import SamplingParams


def distribution(*weights: float) -> torch.Tensor:
    return torch.tensor(weights, dtype=torch.float64)


@given(
    st.lists(st.floats(0.01, 1.0), min_size=2, max_size=6),
    st.floats(0.0, 1.0, exclude_max=True),
)
def test_a_token_is_typical_above_both_thresholds(weights, epsilon):
    total = sum(weights)
    p = [weight / total for weight in weights]
    entropy = -sum(x * math.log(x) for x in p)
    threshold = min(epsilon, math.sqrt(epsilon) * math.exp(-entropy))
    far = [abs(x - threshold) > 1e-9 for x in p]
    found = typical(distribution(*p), epsilon).tolist()
    assert [f for f, is_far in zip(found, far, strict=True) if is_far] == [
        x > threshold for x, is_far in zip(p, far, strict=True) if is_far
    ]
    assert found[p.index(max(p))], "the likeliest token always is"


def test_an_uncertain_target_lowers_the_threshold():
    """0.05 is not typical beside 0.9, but is among twenty equals."""
    assert typical(distribution(0.9, 0.05, 0.05), 0.09).tolist() == [True, False, False]
    assert typical(distribution(*[0.05] * 20), 0.09).all()


def logits_of(*rows):
    return torch.tensor(rows, dtype=torch.float64).log()


def accepted(tree: DraftTree, logits, epsilon=0.09, seed=0):
    seen = Verified(tree, logits, logits.argmax(-1).tolist(), (0,))
    return LossyTypical(epsilon)(seen, PLAIN, SeededChance(seed))


def test_the_longest_typical_branch_wins():
    tree = DraftTree((0, 1, 2), (ROOT, ROOT, 1))
    even = [0.4, 0.4, 0.2]
    assert accepted(tree, logits_of(even, even, even, even)).path == (1, 2)


def test_of_equally_long_branches_the_likelier_one_wins():
    tree = DraftTree((0, 1), (ROOT, ROOT))
    even = [0.3, 0.4, 0.3]
    assert accepted(tree, logits_of(even, even, even)).path == (1,)


def test_a_branch_ends_at_the_first_token_that_is_not_typical():
    tree = DraftTree.chain([0, 2, 1])
    even, sure = [0.4, 0.4, 0.2], [0.94, 0.05, 0.01]
    assert accepted(tree, logits_of(even, sure, even, even)) == ((0,), 0)


def test_the_next_token_is_drawn_from_the_typical_ones_alone():
    logits = logits_of([0.5, 0.42, 0.08])  # threshold min(0.09, 0.3 * 0.41)
    draws = [accepted(NO_DRAFT, logits, seed=s).next_token for s in range(400)]
    assert sorted(set(draws)) == [0, 1]
    assert draws.count(0) / 400 == pytest.approx(0.5 / 0.92, abs=0.1)


def test_what_top_k_or_top_p_exclude_is_not_accepted():
    tree = DraftTree.chain([1])
    logits = logits_of([0.6, 0.4], [0.5, 0.5])
    seen = Verified(tree, logits, [0, 0], (0,))
    sampling = SamplingParams(temperature=1.0, top_k=1)
    assert LossyTypical(0.3)(seen, sampling, SeededChance(0)) == ((), 0)


def test_what_only_looks_ahead_is_not_accepted():
    tree = DraftTree((0, 0), (ROOT, 0), candidates=1)
    even = [0.5, 0.5]
    assert accepted(tree, logits_of(even, even, even)).path == (0,)


@pytest.mark.parametrize("epsilon", [0.0, 0.09, 0.5])
def test_a_greedy_request_gets_the_exact_output(epsilon):
    target = Table(5, 1)
    tree = grown(Table(5, 2), UNBALANCED, chosen, None)
    seen = verified(target, tree)
    greedy, chance = SamplingParams(), SeededChance(0)
    assert LossyTypical(epsilon)(seen, greedy, chance) == accept_exactly(
        seen, greedy, chance
    )


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_it_changes_the_distribution(seed):
    target, drafter = Table(4, seed), Table(4, seed + 100)
    tree = grown(drafter, TWO, chosen, None)
    blocks = emitted_blocks(target, lambda chance: tree, LossyTypical(0.09))
    assert sum(blocks.values()) == pytest.approx(1)
    assert largest_error(target, blocks, 1) > 1e-2
