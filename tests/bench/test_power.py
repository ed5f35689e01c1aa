"""How small a difference would be found: against the textbook, and simulated."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from scipy.stats import nct, t

from trtspec.bench.power import POWER, SAME, power_of, visible_difference
from trtspec.bench.ratio import Ratio
from trtspec.bench.verdict import judge


def ratio(error: float, freedom: float, estimate: float = 1.0) -> Ratio:
    half = t.ppf(0.975, freedom) * error
    interval = (estimate * exp(-half), estimate * exp(half))
    return Ratio(
        estimate=estimate,
        interval=interval,
        prompts_interval=interval,
        blocks_interval=interval,
        error=error,
        freedom=freedom,
    )


@pytest.mark.parametrize("freedom", [2, 4, 9, 40])
@pytest.mark.parametrize("gain", [0.1, 0.25, 0.5])
def test_large_errors_have_the_power_of_a_t_test(freedom, gain):
    # the interval always ends above 1.03, so only its lower end decides
    error = 0.06
    expected = nct.sf(t.ppf(0.975, freedom), freedom, log(1 + gain) / error)
    assert power_of(gain, error, freedom) == pytest.approx(expected, abs=0.003)


def test_no_gain_is_found_in_one_of_forty_runs():
    assert power_of(0.0, 0.1, 4) == pytest.approx(0.025, abs=0.001)


def test_a_gain_within_the_margin_is_not_called_faster_however_sure():
    assert power_of(0.02, 0.0005, 9) < 0.001
    assert power_of(0.04, 0.0005, 9) > 0.999


def test_without_any_error_the_margin_decides():
    assert power_of(0.029, 0.0, 4) == 0.0
    assert power_of(0.031, 0.0, 4) == 1.0
    assert visible_difference(ratio(0.0, 4)) == SAME


@pytest.mark.parametrize(("error", "freedom"), [(0.002, 9), (0.01, 4), (0.03, 2)])
def test_what_is_visible_is_found_in_four_of_five_runs(error, freedom):
    """Of runs whose control finds its error by chance, as the run itself does."""
    random = np.random.default_rng(2)
    found = []
    for _ in range(400):
        seen = error * np.sqrt(random.chisquare(freedom) / freedom)
        visible = visible_difference(ratio(seen, freedom))
        found.append(power_of(visible, error, freedom))
    assert np.mean(found) == pytest.approx(POWER, abs=0.06)


def test_with_many_blocks_it_is_what_the_known_error_gives():
    visible = visible_difference(ratio(0.02, 10_000))
    assert power_of(visible, 0.02, 10_000) == pytest.approx(POWER, abs=0.001)


def test_more_blocks_show_smaller_differences():
    seen = [visible_difference(ratio(0.02, freedom)) for freedom in (2, 4, 9, 30)]
    assert seen == sorted(seen, reverse=True)


def test_without_an_interval_nothing_can_be_told():
    assert visible_difference(None) is None
    assert visible_difference(ratio(0.1, 4).model_copy(update={"error": None})) is None
    assert visible_difference(ratio(50.0, 1)) is None
    assert visible_difference(ratio(1.0, 2)) is None  # of more than ten times as fast


@pytest.mark.parametrize(
    ("gain", "error", "freedom"), [(0.05, 0.01, 4), (0.04, 0.004, 9)]
)
def test_the_judge_finds_as_many_as_are_stated(gain, error, freedom):
    random = np.random.default_rng(1)
    found = 0
    for _ in range(2000):
        estimate = exp(log(1 + gain) + random.normal(0, error))
        own = error * np.sqrt(random.chisquare(freedom) / freedom)
        verdict = judge(
            ratio(own, freedom, estimate), None, blocks=5, prompts=24, drafted=1
        )
        found += verdict.word == "faster"
    assert found / 2000 == pytest.approx(power_of(gain, error, freedom), abs=0.03)
