"""The surface: every length at every batch size, the chosen ones, the break-even."""

from __future__ import annotations

import pytest

from tests.report.tuning.made import shown
from tests.tune.made_result import candidate, result, surface
from trtspec.report.plots.heat import HeatMap
from trtspec.report.tuning.surface import chosen_length, surface_section
from trtspec.tune.result import BreakEvenBatch

TITLE = "Draft length and load"


def figure(page):
    (found,) = page.of(TITLE, "figure")
    return found


def heat(page) -> HeatMap:
    return figure(page).plots[0]


def marked(page):
    """The chosen length of each column."""
    found = {}
    for label, cells in heat(page).rows:
        for column, cell in zip(heat(page).columns, cells, strict=True):
            if cell.marked:
                found[int(column)] = int(label)
    return found


def test_every_length_has_a_row_and_every_batch_a_column(full):
    assert heat(full).columns == ("1", "4", "8")
    assert [label for label, _ in heat(full).rows] == ["0", "1", "2", "3", "4"]
    cell = heat(full).rows[3][1][0]
    assert cell.shown == "1.91"
    assert cell.tip == ("draft length 3, 1 running: 1.91× [1.72, 2.10], 95.7 tokens/s")


def test_what_is_chosen_is_marked_once_a_batch(full, none):
    assert marked(full) == {1: 3, 4: 2, 8: 0}
    assert marked(none) == {1: 0, 4: 0, 8: 0}


@pytest.mark.parametrize(
    ("chosen", "lengths"),
    [(None, [0, 0, 0]), (3, [3, 3, 3]), ({4: 2}, [2, 2, 0]), ({1: 4, 8: 1}, [4, 1, 1])],
)
def test_the_length_of_a_batch_follows_from_the_map(chosen, lengths):
    best = candidate(draft_length=chosen)
    assert [chosen_length(best, batch) for batch in (1, 4, 8)] == lengths


@pytest.mark.parametrize(
    ("batch", "place"),
    [(None, None), (1.0, None), (2.0, 1.0), (4.0, 1.5), (8.0, 2.5), (5.656854, 2.0)],
)
def test_the_break_even_stands_between_its_columns(tmp_path, batch, place):
    found = BreakEvenBatch(batch=batch, low=batch, high=batch)
    page = shown(tmp_path, result(candidate(break_even=found)))
    if place is None:
        assert heat(page).limit is None
    else:
        assert heat(page).limit[0] == pytest.approx(place, abs=1e-3)
        assert heat(page).limit[1] == f"break-even {batch:.1f}"


def test_the_best_length_has_its_intervals_and_the_line_at_one(full):
    plot = figure(full).plots[1]
    (series,) = plot.series
    assert [round(p.y, 2) for p in series.points] == [1.92, 1.62, 0.89]
    assert "with draft length 4" in series.points[0].tip
    assert all(p.interval for p in series.points)
    assert plot.reference == (1.0, "plain decoding")
    (band,) = plot.bands
    assert (band.low, band.high) == (5.1, 7.4)


@pytest.mark.parametrize(
    ("found", "ends"),
    [
        ({"batch": None, "low": None, "high": None}, None),
        ({"batch": 6.0, "low": None, "high": None}, None),
        ({"batch": 6.0, "low": 5.0, "high": None}, (5.0, 8)),
        ({"batch": 1.0, "low": 1.0, "high": 1.0}, None),
    ],
)
def test_a_band_needs_an_interval(tmp_path, found, ends):
    page = shown(tmp_path, result(candidate(break_even=BreakEvenBatch(**found))))
    bands = figure(page).plots[1].bands
    assert [(b.low, b.high) for b in bands] == ([ends] if ends else [])


def test_the_numbers_are_beneath(full):
    table = figure(full).table
    assert len(table.rows) == 3 * 5
    chosen = [row for row in table.rows if row[-1] == "chosen"]
    assert [(row[0], row[1]) for row in chosen] == [
        ("1", "3"),
        ("4", "2"),
        ("8", "none"),
    ]
    assert chosen[0][2:7] == ("2.20", "23.00", "95.7", "10.45", "1.91× [1.72, 2.10]")


def test_one_prompt_has_no_intervals(tmp_path):
    page = shown(tmp_path, result(candidate(surface=surface(sure=False))))
    assert "(no interval)" in heat(page).rows[1][1][0].tip
    assert all(p.interval is None for p in figure(page).plots[1].series[0].points)


def test_a_single_setting_and_a_single_load_are_drawn(tmp_path):
    one = {1: (surface()[1][0], surface()[1][4])}
    own = candidate(surface=one, cut_anywhere=False, draft_length=4)
    page = shown(tmp_path, result(own))
    assert marked(page) == {1: 4}
    assert page.html.count('class="heat') == 2
    assert "What it stands on" in page.titles
    assert page.of("What it stands on", "figure") == []


def test_the_description_says_all_of_it(none):
    section = surface_section(none.found)
    said = section.blocks[0].plots[0].description
    assert said.startswith("1 running: 1: 0.80, 2: 0.67")
    assert said.count("chosen plain decoding") == 3
