"""Where a ladder of throughput ratios crosses 1, and how sure that is."""

from __future__ import annotations

from math import exp, log, sqrt

import numpy as np
import pytest

from trtspec.bench.break_even import break_even
from trtspec.bench.ratio import Ratio


def ratio(estimate: float, half: float = 0.02) -> Ratio:
    """A ratio whose logarithm has an interval of so much to each side."""
    interval = (estimate * exp(-half), estimate * exp(half))
    return Ratio(
        estimate=estimate,
        interval=interval,
        prompts_interval=interval,
        blocks_interval=interval,
    )


def ladder(*estimates: float, half: float = 0.02) -> dict[int, Ratio | None]:
    return {4**i: ratio(e, half) for i, e in enumerate(estimates)}


def test_the_crossing_is_log_linear_between_two_rungs():
    # log 1.2 at 1, -log 1.2 at 4: half-way in the logarithm, at 2
    found = break_even(ladder(1.2, 1 / 1.2))
    assert found.kind == "crossing"
    assert found.concurrency == pytest.approx(2.0)
    # three quarters of the way down from 1.2 ** 3 to 1 / 1.2
    found = break_even(ladder(1.5, 1.2**3, 1 / 1.2))
    assert found.concurrency == pytest.approx(4 * 4**0.75)


def test_the_interval_is_that_of_the_crossing():
    # d crossing / d value at each rung is half of log(4) / (2 log 1.2)
    found = break_even(ladder(1.2, 1 / 1.2, half=0.05))
    half = 0.05 * sqrt(2) / 2 * log(4) / (2 * log(1.2))
    assert found.interval == pytest.approx((2 * exp(-half), 2 * exp(half)), rel=0.03)


def test_a_surer_ladder_has_a_narrower_interval():
    wide = break_even(ladder(1.3, 0.8, half=0.10)).interval
    narrow = break_even(ladder(1.3, 0.8, half=0.02)).interval
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize(
    ("estimates", "kind"),
    [((1.5, 1.3, 1.1), "always faster"), ((0.9, 0.8, 0.7), "always slower")],
)
def test_a_ladder_on_one_side_has_no_crossing(estimates, kind):
    found = break_even(ladder(*estimates))
    assert (found.kind, found.concurrency, found.interval) == (kind, None, None)


def test_one_rung_that_is_not_sure_forbids_always():
    assert break_even(ladder(1.5, 1.3, 1.01)).kind == "no claim"


@pytest.mark.parametrize(
    "estimates", [(0.8, 1.2), (1.2, 0.8, 1.2), (1.2, 0.8, 1.2, 0.8)]
)
def test_anything_but_one_fall_is_no_claim(estimates):
    found = break_even(ladder(*estimates))
    assert found.kind == "no claim"
    assert "once" in found.reason


def test_one_rung_is_no_ladder():
    assert break_even(ladder(1.2)).kind == "no claim"


def test_a_rung_without_a_ratio_is_named():
    found = break_even({**ladder(1.2, 0.8), 64: None})
    assert found.kind == "no claim"
    assert "concurrency 64" in found.reason


def test_rungs_may_come_in_any_order():
    there = ladder(1.4, 1.1, 0.8)
    back = dict(reversed(there.items()))
    assert break_even(there) == break_even(back)


def test_the_interval_ends_with_the_ladder():
    found = break_even(ladder(1.2, 0.99, half=0.1))
    assert found.interval is not None
    low, high = found.interval
    assert 1.0 < low < high
    assert high == pytest.approx(4.0)


def test_the_interval_covers_the_true_crossing():
    """Rungs with independent errors; the truth is straight and crosses at 8."""
    random = np.random.default_rng(3)
    rungs, half = (1, 4, 16, 64), 0.08
    true = {c: 0.15 * (log(8) - log(c)) for c in rungs}
    held = crossings = 0
    for _ in range(400):
        measured = {
            c: ratio(exp(value + random.normal(0, half / 1.96)), half)
            for c, value in true.items()
        }
        found = break_even(measured)
        if found.interval:
            crossings += 1
            held += found.interval[0] <= 8 <= found.interval[1]
    assert crossings == 400
    assert 0.93 <= held / crossings <= 0.98


def test_an_interval_over_the_whole_ladder_is_no_claim():
    found = break_even(ladder(1.1, 0.95, half=0.9))
    assert (found.kind, found.concurrency) == ("no claim", None)
    assert "anywhere on this ladder" in found.reason
