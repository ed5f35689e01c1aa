"""Nominal 95 % intervals hold the truth as often as they say; a naive one does not.

Seeded simulations; ``scripts/bench_intervals.py`` has more runs and more designs, and
docs/statistics.md has its tables.
"""

from __future__ import annotations

import pytest

from tests.bench.simulated import (
    Design,
    control_words,
    coverage,
    found_as_visible,
    naive_median_interval,
    naive_throughput_interval,
    stated_power,
    words,
)

pytestmark = pytest.mark.slow

RUNS = 600
NOMINAL = (0.93, 0.97)

USUAL = Design(5, 48)
HUMPS = Design(5, 48, slow=0.2, gains_differ=0.3)
DRIFT = Design(10, 24, blocks_differ=0.04, drift=0.05)
MANY = Design(5, 200)
FEW = Design(3, 24)


def held(design, what, **more):
    found = coverage(design, what, RUNS, **more)
    assert found.given == 1
    return found.covered


@pytest.mark.parametrize("design", [USUAL, HUMPS, DRIFT, MANY, FEW], ids=str)
@pytest.mark.parametrize("what", ["p50", "ratio of p50", "throughput"])
def test_intervals_hold_the_truth(design, what):
    assert NOMINAL[0] <= held(design, what) <= NOMINAL[1]


@pytest.mark.parametrize("what", ["p95", "ratio of p95"])
def test_intervals_of_tails_hold_it_with_enough_prompts(what):
    assert NOMINAL[0] <= held(MANY, what) <= NOMINAL[1]


@pytest.mark.parametrize(
    ("what", "naive"),
    [("p50", naive_median_interval), ("throughput", naive_throughput_interval)],
)
def test_taking_every_request_for_another_prompt_does_not(what, naive):
    """The negative control: the same check fails an interval without clusters."""
    assert held(USUAL, what, method=naive) < 0.8


ALIKE = Design(5, 48, blocks_differ=0.005, noise=0.04)
"""Off against off: an arm's blocks differ by half a percent, its requests by 4 %."""


def test_an_arm_against_itself_is_no_difference():
    said = control_words(ALIKE, 500)
    assert said.count("no difference") >= 0.93 * 500
    assert said.count("faster") + said.count("slower") <= 0.02 * 500


@pytest.mark.parametrize("blocks", [3, 6])
@pytest.mark.parametrize("differ", [0.0, 0.03, 0.1])
def test_an_arm_against_itself_is_hardly_ever_faster(blocks, differ):
    said = control_words(Design(blocks, 16, blocks_differ=differ), 300)
    assert said.count("faster") + said.count("slower") <= 0.075 * 300


GAIN = {"gain": 1.05, "gains_differ": 0.0}


@pytest.mark.parametrize(
    "design",
    [
        Design(5, 24, blocks_differ=0.01, **GAIN),
        Design(5, 24, blocks_differ=0.02, **GAIN),
        Design(10, 48, blocks_differ=0.02, **GAIN),
    ],
    ids=str,
)
def test_a_gain_of_five_percent_is_found_with_the_stated_power(design):
    said = words(design, RUNS)
    # 2.6 standard errors of a share of 600 runs, and what the control takes away
    assert said.count("faster") / RUNS == pytest.approx(stated_power(design), abs=0.055)
    assert "slower" not in said


def test_a_gain_that_the_control_calls_visible_is_found():
    assert found_as_visible(Design(10, 48, blocks_differ=0.02), RUNS) >= 0.72
