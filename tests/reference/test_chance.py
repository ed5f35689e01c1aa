"""Seeded chance: repeatable, never impossible, and with the right frequencies."""

import torch
from scipy.stats import binomtest, chisquare

from trtspec.reference.chance import SeededChance


def test_the_same_seed_gives_the_same_decisions():
    weights = torch.tensor([0.2, 0.3, 0.5], dtype=torch.float64)
    first, second = SeededChance(7), SeededChance(7)
    assert [first.draw(weights) for _ in range(50)] == [
        second.draw(weights) for _ in range(50)
    ]


def test_neighbouring_seeds_give_different_decisions():
    weights = torch.ones(1000, dtype=torch.float64)
    assert len({SeededChance(seed).draw(weights) for seed in range(20)}) > 15


def test_certain_outcomes_are_certain():
    chance = SeededChance(0)
    assert all(chance.flip(1.0) for _ in range(1000))
    assert not any(chance.flip(0.0) for _ in range(1000))


def test_impossible_tokens_are_never_drawn():
    chance = SeededChance(1)
    weights = torch.tensor([0.0, 0.5, 0.0, 0.5, 0.0], dtype=torch.float64)
    assert {chance.draw(weights) for _ in range(2000)} == {1, 3}


class Edge:
    """A stream at the end of its range, where rounding reaches the total."""

    def random(self):
        return 1.0


def test_rounding_at_the_end_of_the_range_takes_the_last_possible_token():
    chance = SeededChance(0)
    chance._random = Edge()
    assert chance.draw(torch.tensor([0.1, 0.2, 0.0], dtype=torch.float64)) == 1


def test_draws_follow_unnormalised_weights():
    chance = SeededChance(3)
    weights = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)
    draws = torch.tensor([chance.draw(weights) for _ in range(8000)])
    counts = draws.bincount(minlength=4).numpy()
    assert chisquare(counts, weights.numpy() * 800).pvalue > 1e-3


def test_flips_follow_their_probability():
    chance = SeededChance(4)
    heads = sum(chance.flip(0.3) for _ in range(5000))
    assert binomtest(heads, 5000, 0.3).pvalue > 1e-3
    assert binomtest(heads, 5000, 0.35).pvalue < 1e-3
