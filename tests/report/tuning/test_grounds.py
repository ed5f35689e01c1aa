"""What the choice stands on, and the bill."""

from __future__ import annotations

import pytest

from tests.report.tuning.made import shown
from tests.tune.made_result import result


def test_both_factors_of_the_gain_are_drawn(full):
    (figure,) = full.of("What it stands on", "figure")
    tokens, seconds = figure.plots
    assert [p.y for p in tokens.series[0].points] == [1.0, 1.6, 2.0, 2.2, 2.3]
    assert [s.key.name for s in seconds.series] == [
        "1 running",
        "4 running",
        "8 running",
    ]
    assert [p.y for p in seconds.series[0].points] == pytest.approx(
        [20, 21, 22, 23, 24]
    )
    assert seconds.from_zero


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ("measured", "measured on this machine"),
        ("priced", "nothing was measured there"),
        ("roofline", "a bound, not a measurement"),
    ],
)
def test_where_the_times_come_from_is_said(tmp_path, costs, said):
    page = shown(tmp_path, result(costs=costs))
    (bullets,) = page.of("What it stands on", "bullets")
    assert said in bullets.items[0]
    assert page.chapter.under[-1] == f"Step times {costs}, on AMD EPYC 9354."


def test_what_the_intervals_do_not_cover_is_said(plain):
    (bullets,) = plain.of("What it stands on", "bullets")
    assert "not other prompts" in bullets.items[-1]


def test_the_bill_has_every_part_and_the_sweep(full, plain):
    (table,) = full.of("The bill", "table")
    assert [row[0] for row in table.rows] == [
        "traces",
        "costs",
        "sweep",
        "a whole sweep, once (measured, one round of the above)",
    ]
    assert table.rows[-1][1:] == ("1", "2,400", "125.0", "7.5")
    (table,) = plain.of("The bill", "table")
    assert table.rows[-1][0] == "a whole sweep, once (predicted, not run)"
    (text,) = plain.of("The bill", "text")
    assert text.text == (
        "A sweep of all lengths, once: 125.0 s (predicted); traces and costs took "
        "8.0% of that."
    )
