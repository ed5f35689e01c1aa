"""Acceptance keeps the target's distribution: proven by enumerating every outcome.

The code under test is the code that runs: only its source of chance is replaced.
"""

from __future__ import annotations

import itertools
from collections import defaultdict

import pytest
import torch

from tests.reference.enumeration import outcomes
from trtspec.reference import acceptance
from trtspec.reference.acceptance import (
    accept_greedy,
    accept_sampled,
    acceptance_probability,
    residual,
)
from trtspec.reference.tree import NO_DRAFT, ROOT, DraftTree

EXACT = 1e-12


class Table:
    """A language model as a table: a seeded distribution after every prefix."""

    def __init__(self, vocabulary: int, seed: int, kept: int | None = None) -> None:
        self._vocabulary, self._seed, self._kept = vocabulary, seed, kept
        self._known: dict[tuple[int, ...], torch.Tensor] = {}

    def after(self, prefix: tuple[int, ...]) -> torch.Tensor:
        if prefix not in self._known:
            place = sum(31**i * (t + 1) for i, t in enumerate(prefix))
            generator = torch.Generator().manual_seed(self._seed * 1_000_003 + place)
            weights = torch.rand(self._vocabulary, generator=generator).double() ** 3
            if self._kept:  # as top-k leaves it: some tokens have no mass at all
                weights[weights < weights.topk(self._kept).values[-1]] = 0
            self._known[prefix] = weights / weights.sum()
        return self._known[prefix]

    def chain(self, tokens: tuple[int, ...]) -> float:
        """Probability of a whole sequence."""
        return float(
            torch.tensor(
                [self.after(tokens[:i])[t] for i, t in enumerate(tokens)],
                dtype=torch.float64,
            ).prod()
        )


def path_prefix(tree: DraftTree, node: int) -> tuple[int, ...]:
    tokens: list[int] = []
    while node != ROOT:
        tokens.insert(0, tree.tokens[node])
        node = tree.parents[node]
    return tuple(tokens)


def emitted_blocks(target: Table, propose) -> dict[tuple[int, ...], float]:
    """Exact probability of each block that a step drafting with ``propose`` emits."""

    def step(chance):
        tree = propose(chance)
        result = accept_sampled(
            tree, lambda node: target.after(path_prefix(tree, node)), chance
        )
        return (*(tree.tokens[n] for n in result.path), result.next_token)

    blocks: dict[tuple[int, ...], float] = defaultdict(float)
    for weight, block in outcomes(step):
        blocks[block] += weight
    return blocks


def largest_error(target: Table, blocks, vocabulary: int, length: int) -> float:
    """Largest error of the probability of any sequence of ``length`` tokens.

    A block shorter than that is continued as plain sampling would.
    """
    errors = []
    for sequence in itertools.product(range(vocabulary), repeat=length):
        got = 0.0
        for cut in range(1, length + 1):
            block = blocks.get(sequence[:cut], 0.0)
            if block:
                rest = [
                    float(target.after(sequence[:i])[sequence[i]])
                    for i in range(cut, length)
                ]
                got += block * torch.tensor(rest, dtype=torch.float64).prod().item()
        errors.append(abs(got - target.chain(sequence)))
    return max(errors)


def sampled_chain(drafter: Table, length: int):
    def propose(chance):
        tokens: list[int] = []
        proposals = []
        for _ in range(length):
            q = drafter.after(tuple(tokens))
            tokens.append(chance.draw(q))
            proposals.append(q)
        return DraftTree.chain(tokens, proposals)

    return propose


CHAINS = [(16, 1), (7, 2), (4, 3), (3, 4)]


@pytest.mark.parametrize(("vocabulary", "length"), CHAINS)
@pytest.mark.parametrize("seed", [1, 2])
def test_sampled_chain_keeps_the_target_distribution(vocabulary, length, seed):
    target, drafter = Table(vocabulary, seed), Table(vocabulary, seed + 100)
    blocks = emitted_blocks(target, sampled_chain(drafter, length))
    assert largest_error(target, blocks, vocabulary, length + 1) < EXACT


@pytest.mark.parametrize(("vocabulary", "length"), CHAINS)
def test_chain_is_exact_when_target_and_drafter_have_zeros(vocabulary, length):
    target = Table(vocabulary, 3, kept=max(2, vocabulary // 2))
    drafter = Table(vocabulary, 4, kept=2)
    blocks = emitted_blocks(target, sampled_chain(drafter, length))
    assert largest_error(target, blocks, vocabulary, length + 1) < EXACT


@pytest.mark.parametrize(("vocabulary", "length"), CHAINS)
def test_chain_chosen_without_chance_keeps_the_distribution(vocabulary, length):
    target = Table(vocabulary, 5)
    tree = DraftTree.chain([(3 * i + 1) % vocabulary for i in range(length)])
    blocks = emitted_blocks(target, lambda chance: tree)
    assert largest_error(target, blocks, vocabulary, length + 1) < EXACT


def test_perfect_drafter_is_always_accepted():
    target = Table(4, 6)
    blocks = emitted_blocks(target, sampled_chain(target, 2))
    assert {len(block) for block in blocks} == {3}


def siblings_without_replacement(drafter: Table, count: int):
    """Candidates drawn from q, each without the ones before it (EAGLE, SpecInfer)."""

    def propose(chance):
        q = drafter.after(())
        tokens, proposals = [], []
        for _ in range(count):
            tokens.append(chance.draw(q))
            proposals.append(q)
            q = q.clone()
            q[tokens[-1]] = 0
            q = q / q.sum()
        below = drafter.after((tokens[0],))
        tokens.append(chance.draw(below))
        proposals.append(below)
        return DraftTree(tuple(tokens), (ROOT,) * count + (0,), tuple(proposals))

    return propose


@pytest.mark.parametrize(("vocabulary", "count"), [(8, 2), (5, 3)])
def test_tree_of_candidates_without_replacement_is_exact(vocabulary, count):
    target, drafter = Table(vocabulary, 7), Table(vocabulary, 8)
    blocks = emitted_blocks(target, siblings_without_replacement(drafter, count))
    assert largest_error(target, blocks, vocabulary, 3) < EXACT


def test_tree_of_candidates_with_replacement_is_exact():
    target, drafter = Table(5, 9), Table(5, 10)

    def propose(chance):
        q = drafter.after(())
        return DraftTree((chance.draw(q), chance.draw(q)), (ROOT, ROOT), (q, q))

    blocks = emitted_blocks(target, propose)
    assert largest_error(target, blocks, 5, 2) < EXACT


def test_tree_chosen_without_chance_is_exact():
    target = Table(6, 11)
    tree = DraftTree((4, 1, 2, 0, 3), (ROOT, ROOT, 0, 0, 2))
    blocks = emitted_blocks(target, lambda chance: tree)
    assert largest_error(target, blocks, 6, 4) < EXACT


@pytest.mark.parametrize("length", [1, 2])
def test_negative_control_accepting_everything_is_caught(monkeypatch, length):
    monkeypatch.setattr(acceptance, "acceptance_probability", lambda p, q, token: 1.0)
    target, drafter = Table(5, 1), Table(5, 101)
    blocks = emitted_blocks(target, sampled_chain(drafter, length))
    assert largest_error(target, blocks, 5, length + 1) > 1e-2


def test_negative_control_resampling_from_the_whole_target_is_caught(monkeypatch):
    """A rejected point mass redrawn from p comes out with p (2 - p)."""
    monkeypatch.setattr(acceptance, "residual", lambda p, q, token: p)
    target = Table(5, 1)
    blocks = emitted_blocks(target, lambda chance: DraftTree.chain([2]))
    p = float(target.after(())[2])
    got = sum(weight for block, weight in blocks.items() if block[0] == 2)
    assert got == pytest.approx(p * (2 - p), abs=EXACT)
    assert largest_error(target, blocks, 5, 1) > 1e-2


def test_greedy_follows_the_argmax_and_corrects_the_first_wrong_token():
    chain = DraftTree.chain([5, 6, 7])
    assert accept_greedy(chain, [5, 6, 9, 8]) == ((0, 1), 9)
    assert accept_greedy(chain, [4, 6, 7, 8]) == ((), 4)
    assert accept_greedy(chain, [5, 6, 7, 8]) == ((0, 1, 2), 8)
    assert accept_greedy(NO_DRAFT, [3]) == ((), 3)


def test_greedy_takes_the_matching_branch_of_a_tree():
    tree = DraftTree((5, 6, 7, 8), (ROOT, ROOT, 0, 1))
    #        after: pending, 5, 6, 5-7, 6-8
    assert accept_greedy(tree, [6, 7, 8, 1, 2]) == ((1, 3), 2)
    assert accept_greedy(tree, [5, 9, 8, 1, 2]) == ((0,), 9)


def test_probability_is_the_clipped_ratio():
    p = torch.tensor([0.1, 0.6, 0.3], dtype=torch.float64)
    q = torch.tensor([0.4, 0.3, 0.3], dtype=torch.float64)
    assert acceptance_probability(p, q, 0) == pytest.approx(0.25)
    assert acceptance_probability(p, q, 1) == 1.0
    assert acceptance_probability(p, None, 2) == pytest.approx(0.3)


def test_token_without_mass_in_its_proposal_is_refused():
    p = torch.tensor([0.5, 0.5], dtype=torch.float64)
    q = torch.tensor([1.0, 0.0], dtype=torch.float64)
    with pytest.raises(ValueError, match="draft token 1"):
        acceptance_probability(p, q, 1)


def test_residual_is_normalised_and_has_no_mass_where_q_exceeds_p():
    p = torch.tensor([0.1, 0.6, 0.3], dtype=torch.float64)
    q = torch.tensor([0.4, 0.3, 0.3], dtype=torch.float64)
    assert residual(p, q, 0).tolist() == pytest.approx([0.0, 1.0, 0.0])
    assert residual(p, None, 1).tolist() == pytest.approx([0.25, 0.0, 0.75])


def test_residual_of_equal_distributions_is_the_target_itself():
    p = torch.tensor([0.25, 0.75], dtype=torch.float64)
    assert residual(p, p.clone(), 0).tolist() == p.tolist()
