"""The closed form against enumeration, and against published optima."""

from __future__ import annotations

from itertools import product

import pytest

from trtspec.tune.closed_form import best_length, expected_gain, expected_tokens


def enumerated(acceptance: float, length: int) -> float:
    """Walk through every pattern of accepted and rejected draft tokens."""
    total = 0.0
    for flips in product((True, False), repeat=length):
        chance = 1.0
        for accepted in flips:
            chance *= acceptance if accepted else 1 - acceptance
        until = flips.index(False) if False in flips else length
        total += chance * (until + 1)
    return total


@pytest.mark.parametrize("acceptance", [0.0, 0.1, 0.5, 0.83, 0.99, 1.0])
@pytest.mark.parametrize("length", range(8))
def test_expected_tokens_are_those_of_all_patterns(acceptance, length):
    assert expected_tokens(acceptance, length) == pytest.approx(
        enumerated(acceptance, length), abs=1e-12
    )


TABLE = {
    0.01: "3/1.38 5/1.88 7/2.30 9/2.97 14/4.23 24/7.49",
    0.02: "3/1.34 4/1.79 6/2.17 8/2.76 11/3.82 19/6.37",
    0.05: "2/1.26 3/1.63 4/1.92 6/2.35 8/3.09 13/4.67",
    0.10: "1/1.18 2/1.46 3/1.67 4/1.98 6/2.47 10/3.43",
    0.20: "1/1.08 2/1.25 2/1.40 3/1.58 4/1.87 7/2.37",
}
"""Optimal K and its gain for acceptance 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, by cost."""


@pytest.mark.parametrize("cost", TABLE)
def test_the_table_of_optima(cost):
    for acceptance, entry in zip(
        (0.3, 0.5, 0.6, 0.7, 0.8, 0.9), TABLE[cost].split(), strict=True
    ):
        length, gain = entry.split("/")
        found = best_length(acceptance, cost)
        assert found.gain == pytest.approx(float(gain), abs=0.005)
        if found.length != int(length):  # two lengths gain the same: ours is shorter
            assert found.length < int(length)
            there = expected_gain(acceptance, int(length), cost)
            assert found.gain == pytest.approx(there, abs=1e-12)


def test_nothing_is_gained_where_drafting_costs_more_than_it_finds():
    assert best_length(0.1, 0.2) == (0, 1.0)
    # a gain exists if and only if acceptance > cost (corollary 3.9)
    for acceptance in (0.1, 0.4, 0.8):
        assert expected_gain(acceptance, 1, acceptance - 0.01) > 1
        assert expected_gain(acceptance, 1, acceptance + 0.01) < 1


@pytest.mark.parametrize("acceptance", [-0.1, 1.1, float("nan")])
def test_what_is_no_share_is_refused(acceptance):
    with pytest.raises(ValueError, match="not between 0 and 1"):
        expected_tokens(acceptance, 3)
    with pytest.raises(ValueError, match="not 0 or more"):
        expected_gain(0.5, 3, -1.0)
