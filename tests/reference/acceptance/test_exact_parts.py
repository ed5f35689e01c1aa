"""The parts of the exact rule: greedy walk, acceptance probability, residual."""

from __future__ import annotations

import pytest
import torch

from trtspec.reference.acceptance import (
    accept_greedy,
    acceptance_probability,
    residual,
)
from trtspec.reference.tree import NO_DRAFT, ROOT, DraftTree


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


def test_greedy_never_takes_what_only_looks_ahead():
    tree = DraftTree((5, 6), (ROOT, 0), candidates=1)
    assert accept_greedy(tree, [5, 6, 7]) == ((0,), 6)


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


@pytest.mark.parametrize("mass", [0.0, -0.1, float("nan")])
def test_a_token_without_mass_in_its_own_proposal_is_an_error(mass):
    q = torch.tensor([mass, 1.0], dtype=torch.float64)
    with pytest.raises(ValueError, match="no mass"):
        acceptance_probability(torch.tensor([0.5, 0.5]), q, 0)
