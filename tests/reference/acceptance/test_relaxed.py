"""Relaxed acceptance follows its rule inside the thinking phase, and is lossy there."""

from __future__ import annotations

import pytest
import torch

from tests.reference.acceptance.tables import (
    EXACT,
    PLAIN,
    TWO,
    UNBALANCED,
    Table,
    chosen,
    emitted_blocks,
    grown,
    largest_error,
    verified,
    without_replacement,
)
from trtspec.reference.acceptance import LossyRelaxed, Verified, accept_exactly
from trtspec.reference.acceptance.relaxed import relaxed
from trtspec.reference.chance import SeededChance
from trtspec.reference.tree import ROOT, DraftTree
from trtspec.run import SamplingParams

BEGIN, END = 90, 91
THINKING = (7, BEGIN, 3)
GREEDY = SamplingParams()
P = torch.tensor([0.1, 0.4, 0.3, 0.2], dtype=torch.float64)


def rule(top_k=3, delta=0.15):
    return LossyRelaxed(top_k, delta, (BEGIN, END))


@pytest.mark.parametrize(
    ("top_k", "delta", "taken"),
    [
        (1, 1.0, {1}),
        (2, 1.0, {1, 2}),
        (4, 0.15, {1, 2}),
        (4, 0.25, {1, 2, 3}),
        (3, 1.0, {1, 2, 3}),
        (9, 1.0, {0, 1, 2, 3}),
        (4, 0.0, {1}),
    ],
)
def test_the_likeliest_within_the_margin_are_taken(top_k, delta, taken):
    assert relaxed(P, top_k, delta) == taken


def test_what_has_no_probability_is_not_taken():
    p = torch.tensor([1.0, 0.0], dtype=torch.float64)
    assert relaxed(p, 2, 1.0) == {0}


def asked(tree: DraftTree, tokens, one=None, sampling=GREEDY):
    logits = P.log().repeat(1 + len(tree), 1)
    seen = Verified(tree, logits, logits.argmax(-1).tolist(), tokens)
    return (one or rule())(seen, sampling, SeededChance(0))


@pytest.mark.parametrize(
    ("tokens", "thinks"),
    [
        (THINKING, True),
        ((7, BEGIN), True),
        ((7, 3), False),
        ((BEGIN, 3, END, 5), False),
        ((BEGIN, END, BEGIN, 5), True),
    ],
)
def test_a_likely_token_is_taken_only_while_the_model_thinks(tokens, thinks):
    outcome = asked(DraftTree.chain([2]), tokens)
    assert outcome == (((0,), 1) if thinks else ((), 1))


def test_a_token_below_the_margin_is_corrected_to_the_likeliest():
    assert asked(DraftTree.chain([3]), THINKING) == ((), 1)


def test_the_first_likely_sibling_is_taken():
    assert asked(DraftTree((0, 2, 1), (ROOT, ROOT, ROOT)), THINKING).path == (1,)


def test_an_accepted_end_token_ends_the_phase_at_once():
    tree = DraftTree.chain([2, 2])
    ends = LossyRelaxed(3, 0.15, (BEGIN, 2))
    assert asked(tree, THINKING) == ((0, 1), 1)
    assert asked(tree, THINKING, ends) == ((0,), 1)


def test_an_accepted_begin_token_begins_the_phase_at_once():
    tree = DraftTree.chain([1, 2])
    assert asked(tree, (7,), LossyRelaxed(3, 0.15, (1, END))) == ((0, 1), 1)


def test_what_only_looks_ahead_is_not_accepted():
    tree = DraftTree((2, 2), (ROOT, 0), candidates=1)
    assert asked(tree, THINKING).path == (0,)


@pytest.mark.parametrize("seed", range(4))
def test_outside_the_phase_greedy_is_exact(seed):
    tree = grown(Table(5, seed + 9), UNBALANCED, chosen, None)
    seen = verified(Table(5, seed), tree)
    chance = SeededChance(0)
    assert rule()(seen, GREEDY, chance) == accept_exactly(seen, GREEDY, chance)


def blocks_of(target: Table, tokens):
    drafter = Table(4, 101)
    return emitted_blocks(
        target, lambda c: grown(drafter, TWO, without_replacement, c), rule(), tokens
    )


def test_outside_the_phase_sampling_keeps_the_distribution():
    target = Table(4, 1)
    assert largest_error(target, blocks_of(target, (7, 3)), 2) < EXACT


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_inside_the_phase_it_changes_the_distribution(seed):
    target = Table(4, seed)
    blocks = blocks_of(target, THINKING)
    assert sum(blocks.values()) == pytest.approx(1)
    assert largest_error(target, blocks, 2) > 1e-2


def test_inside_the_phase_it_changes_greedy_output():
    assert asked(DraftTree.chain([2]), THINKING).path == (0,)
    seen = Verified(DraftTree.chain([2]), P.log().repeat(2, 1), [1, 1], THINKING)
    assert accept_exactly(seen, GREEDY, SeededChance(0)).path == ()


def test_where_no_child_is_likely_a_sampled_request_follows_the_exact_rule():
    """With a margin of 0 only the likeliest token is taken without chance."""
    tree = DraftTree.chain([2])
    one = rule(delta=0.0)
    paths = set()
    for seed in range(60):
        seen = Verified(tree, P.log().repeat(2, 1), [1, 1], THINKING)
        paths.add(one(seen, PLAIN, SeededChance(seed)).path)
    assert paths == {(), (0,)}
