"""Acceptance keeps the target's distribution: proven by enumerating every outcome.

The code under test is the code that runs, from the choice of the candidates to the next
token: only its source of chance is replaced.
"""

from __future__ import annotations

import pytest
import torch

from tests.reference.acceptance.tables import (
    CHAIN_2,
    EXACT,
    KINDS,
    LOPSIDED,
    TWO,
    UNBALANCED,
    Table,
    chosen,
    emitted_blocks,
    grown,
    largest_error,
    with_replacement,
    without_replacement,
)
from trtspec.reference.acceptance import accept_sampled
from trtspec.reference.candidates import Candidate
from trtspec.reference.tree import DraftTree
from trtspec.run import SamplingParams

RESTRICTIONS = {
    "none": ({}, {}),
    "temperature": ({"temperature": 0.6}, {"temperature": 1.7}),
    "top_k": ({"top_k": 3}, {"top_k": 2}),
    "top_p": ({"top_p": 0.7}, {"top_p": 0.9}),
    "all": (
        {"temperature": 1.3, "top_k": 3, "top_p": 0.95},
        {"temperature": 0.7, "top_k": 2, "top_p": 0.8},
    ),
    "top_k_of_the_target_alone": ({"top_k": 2}, {}),
    "a_drafter_with_one_token": ({}, {"top_k": 1}),
}
"""Name → how the target's p and the drafter's q are restricted."""
SHAPES = {"chain": CHAIN_2, "siblings": TWO, "unbalanced": UNBALANCED}


def tables(vocabulary: int, restriction: str, seed: int = 1):
    p, q = ({"temperature": 1.0} | one for one in RESTRICTIONS[restriction])
    return (
        Table(vocabulary, seed, SamplingParams(**p)),
        Table(vocabulary, seed + 100, SamplingParams(**q)),
    )


def error_of(target: Table, drafter: Table, shape, kind, length: int) -> float:
    blocks = emitted_blocks(target, lambda c: grown(drafter, shape, kind, c))
    assert sum(blocks.values()) == pytest.approx(1, abs=EXACT)
    return largest_error(target, blocks, length)


@pytest.mark.parametrize("restriction", RESTRICTIONS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_target_distribution_is_kept(shape, kind, restriction):
    target, drafter = tables(4, restriction)
    assert error_of(target, drafter, SHAPES[shape], KINDS[kind], 3) < EXACT


@pytest.mark.parametrize(("vocabulary", "depth"), [(16, 1), (7, 2), (3, 4)])
@pytest.mark.parametrize("kind", [without_replacement, chosen])
def test_a_chain_keeps_it_at_any_depth(vocabulary, depth, kind):
    target, drafter = Table(vocabulary, 2), Table(vocabulary, 102)
    shape: tuple = ()
    for _ in range(depth):
        shape = (shape,)
    assert error_of(target, drafter, shape, kind, depth + 1) < EXACT


@pytest.mark.parametrize("kind", KINDS)
def test_a_branch_below_a_later_sibling_keeps_it(kind):
    target, drafter = Table(3, 3), Table(3, 103)
    assert error_of(target, drafter, LOPSIDED, KINDS[kind], 4) < EXACT


def test_as_many_candidates_as_tokens_keep_it():
    """The last sibling without replacement is certain to be what is left of q."""
    target, drafter = Table(3, 4), Table(3, 104)
    shape = ((), (), ())
    assert error_of(target, drafter, shape, without_replacement, 2) < EXACT


def test_four_equal_candidates_keep_it():
    target, drafter = Table(3, 5), Table(3, 105, SamplingParams(1.0, top_k=1))
    shape = ((), (), (), ())
    assert error_of(target, drafter, shape, with_replacement, 2) < EXACT


def test_levels_of_different_kinds_keep_it():
    """As where a suffix or an n-gram stands beside drawn tokens."""
    target, drafter = Table(4, 6), Table(4, 106)

    def mixed(table, prefix, count, chance):
        kind = chosen if prefix else without_replacement
        return kind(table, prefix, count, chance)

    assert error_of(target, drafter, UNBALANCED, mixed, 3) < EXACT


def test_drawn_tokens_that_are_taken_for_chosen_ones_keep_it():
    """Less is accepted, but whatever token stands there, the rule makes up for it."""
    target, drafter = Table(4, 6), Table(4, 106)

    def unnamed(table, prefix, count, chance):
        found = with_replacement(table, prefix, count, chance)
        return [Candidate(token, None) for token, _ in found]

    assert error_of(target, drafter, TWO, unnamed, 2) < EXACT


def test_a_drafter_that_is_the_target_is_always_accepted():
    target = Table(4, 7)
    blocks = emitted_blocks(
        target, lambda c: grown(target, CHAIN_2, without_replacement, c)
    )
    assert {len(block) for block in blocks} == {3}


def test_what_only_looks_ahead_is_never_accepted():
    target = Table(4, 8)
    best = int(target.logits(()).argmax())
    tree = DraftTree((best, best, 1), (-1, 0, 1), candidates=1)
    blocks = emitted_blocks(target, lambda chance: tree)
    assert max(len(block) for block in blocks) == 2
    assert largest_error(target, blocks, 3) < EXACT


def test_the_target_is_asked_only_after_tokens_that_are_reached():
    asked = []

    def target(node):
        asked.append(node)
        return torch.tensor([0.0, 1.0], dtype=torch.float64)

    class Never:
        def flip(self, probability):
            return probability >= 1

        def draw(self, p):
            return int(p.argmax())

    tree = DraftTree((0, 1, 0), (-1, 0, 1))
    assert accept_sampled(tree, target, Never()) == ((), 1)
    assert asked == [-1]
