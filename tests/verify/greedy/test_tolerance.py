"""The tolerance follows from the number format, and from what is measured."""

import math

import pytest
import torch

from trtspec.verify.greedy.tolerance import (
    DTYPES,
    Spread,
    spread_of,
    step_of,
    tolerance_for,
)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("value", [1.0, 1.99, 7.3, 16.0, 31.9, 32.0, -20.0])
def test_a_step_is_the_distance_of_neighbouring_numbers(dtype, value):
    number = torch.tensor(value, dtype=getattr(torch, dtype))
    away = torch.nextafter(number, number * 4)
    assert step_of(dtype, float(number)) == abs(float(away) - float(number))


def test_small_logits_have_no_smaller_step_than_one():
    # the sums behind them are of numbers of that size
    assert step_of("bfloat16", 0.001) == step_of("bfloat16", 1.0) == 2**-7


def test_bfloat16_between_16_and_32():
    assert tolerance_for("bfloat16", "test").at() == 4 * 0.125


def test_larger_logits_allow_a_larger_gap():
    tolerance = tolerance_for("bfloat16", "test")
    assert tolerance.at(40.0) == 2 * tolerance.at(20.0)


def test_formats_are_ordered_by_their_precision():
    limits = [tolerance_for(d, "test").at() for d in ("float32", "float16", "bfloat16")]
    assert limits == sorted(limits)
    assert limits[0] < 0.004 < limits[1]


def measured(largest, dtype="bfloat16"):
    spread = Spread(positions=9, width=5, median=largest / 4, largest=largest)
    return tolerance_for(dtype, "test", spread)


def test_a_measured_spread_widens_it():
    assert measured(0.375).at() == 0.75
    assert measured(0.1).at() == tolerance_for("bfloat16", "test").at()
    assert not measured(0.7).unsteady


def test_but_never_so_far_that_a_real_divergence_passes():
    """Case: an engine that differs from itself by 5 must not excuse a gap of 3.1."""
    assert measured(5.0).at() == 2.0
    assert measured(5.0).unsteady


def test_no_tolerance_excuses_three_point_one_at_usual_logits():
    assert all(tolerance_for(d, "test").most_at(31.0) < 3.1 for d in DTYPES)


def test_the_words_name_format_limit_and_measurement():
    words = measured(0.7).words
    assert all(part in words for part in ("1.4", "bfloat16", "9 places"))
    assert "not measured" in tolerance_for("float16", "assumed").words


def test_spread_is_summed_up():
    spread = spread_of([0.3, 0.1, 0.2], 5)
    assert (spread.positions, spread.median, spread.largest) == (3, 0.2, 0.3)
    assert spread_of([], 5) is None


def test_rounding_alone_stays_within_the_steps():
    """Two logits, rounded in each of two arms: two steps at most."""
    generator = torch.Generator().manual_seed(0)
    exact = 16 + 16 * torch.rand(2, 10_000, generator=generator, dtype=torch.float64)
    noise = torch.empty_like(exact).uniform_(-0.01, 0.01, generator=generator)
    one, other = exact.bfloat16().double(), (exact + noise).bfloat16().double()
    moved = ((one[0] - one[1]) - (other[0] - other[1])).abs().max()
    assert 0.125 <= float(moved) <= 2 * 0.125 + 0.04
    assert float(moved) < tolerance_for("bfloat16", "test").at()
    assert math.isclose(float(moved) % 0.125, 0.0)
