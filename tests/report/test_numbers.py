"""How numbers read."""

from __future__ import annotations

import pytest

from trtspec.bench.cells import Acceptance
from trtspec.bench.metrics import Quantile
from trtspec.bench.ratio import Ratio
from trtspec.report import numbers


def ratio(estimate, ends):
    return Ratio(
        estimate=estimate, interval=ends, prompts_interval=None, blocks_interval=None
    )


def test_a_ratio_has_its_interval():
    assert numbers.ratio(ratio(1.836, (1.7149, 1.97))) == "1.84× [1.71, 1.97]"
    assert numbers.ratio(ratio(1.0041, (0.99, 1.02)), 3) == "1.004× [0.990, 1.020]"


def test_what_is_not_there_is_said():
    assert numbers.ratio(None) == "–"
    assert numbers.ratio(ratio(2.0, None)) == "2.00× (no interval)"
    assert numbers.quantile("ttft", None) == "–"
    assert numbers.percent(None) == numbers.decimal(None) == numbers.count(None) == "–"


def test_a_percentile_has_the_unit_and_digits_of_the_metric():
    found = Quantile(value=0.12345, interval=(0.1, 0.25))
    assert numbers.quantile("ttft", found) == "123 [100, 250]"  # milliseconds
    assert numbers.quantile("e2e", found) == "0.12 [0.10, 0.25]"  # seconds
    lone = Quantile(value=0.01, interval=None)
    assert numbers.quantile("tpot", lone) == "10.0 (no interval)"


def test_shares_counts_and_sizes():
    assert numbers.percent(0.6184) == "61.8 %"
    assert numbers.percent_interval((0.5, 0.755)) == "[50.0, 75.5] %"
    assert numbers.count(12345) == "12,345"
    assert numbers.gibibytes(3 << 29) == "1.5 GiB"


@pytest.mark.parametrize(
    ("rate", "length", "said"),
    [(0.5, 2.5, "length 2.50, rate 50.0 %"), (None, 1.0, "nothing drafted")],
)
def test_acceptance_in_words(rate, length, said):
    found = Acceptance(
        requests=1, steps=2, drafted=6, accepted=3, rate=rate, length=length
    )
    assert numbers.length_and_rate(found) == said
    assert numbers.length_and_rate(None) == "not told"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (None, "–"),
        (True, "yes"),
        (0.85, "0.85"),
        ([1, 2], "1, 2"),
        ([], "–"),
        ({"a": None, "b": False}, "a –, b no"),
    ],
)
def test_conditions_in_words(value, said):
    assert numbers.value_text(value) == said


def test_hashes_are_cut():
    assert numbers.short_hashes("sha " + "ab" * 32) == "sha abababababab…"
