"""A surface as cells: where they lie, how strongly they are tinted, what is marked."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from trtspec.report.plots import draw
from trtspec.report.plots.heat import Heat, HeatMap

HOSTILE = '<b>"&'


def heat_map(ratios=((1.0, 1.0), (2.0, 0.5)), marked=(1, 0), **changes):
    rows = tuple(
        (
            str(row),
            tuple(
                Heat(value, f"{value:.2f}", f"{row}/{column}", (row, column) == marked)
                for column, value in enumerate(values)
            ),
        )
        for row, values in enumerate(ratios)
    )
    given = {
        "title": "surface",
        "description": "all of it",
        "titles": ("running requests", "gain"),
        "columns": tuple(str(2**i) for i in range(len(ratios[0]))),
        "rows": rows,
        **changes,
    }
    return HeatMap(**given)


def named(svg, css):
    found = ElementTree.fromstring(svg).iter()
    return [e for e in found if css in (e.get("class") or "").split()]


def cells(svg):
    """The cells by their tips."""
    found = ElementTree.fromstring(svg).iter("g")
    return {g[0].text: g[1] for g in found}


def test_longer_drafts_lie_higher_and_larger_batches_further_right():
    found = cells(draw(heat_map(), "p"))
    assert float(found["1/0"].get("y")) < float(found["0/0"].get("y"))
    assert float(found["0/1"].get("x")) > float(found["0/0"].get("x"))


def test_gain_and_loss_of_one_size_are_tinted_alike():
    found = cells(draw(heat_map(), "p"))
    assert found["1/0"].get("class") == "heat up"
    assert found["1/1"].get("class") == "heat down"
    assert found["0/0"].get("class") == "heat even"
    strength = {tip: float(e.get("fill-opacity")) for tip, e in found.items()}
    assert strength["1/0"] == strength["1/1"] == 0.6
    assert strength["0/0"] == 0.07


def test_small_differences_are_not_blown_up():
    found = cells(draw(heat_map(((1.0, 1.01),)), "p"))
    assert float(found["0/1"].get("fill-opacity")) < 0.15


def test_what_is_chosen_is_outlined_above_the_others():
    svg = draw(heat_map(), "p")
    (outline,) = named(svg, "chosen")
    cell = cells(svg)["1/0"]
    assert [outline.get(k) for k in ("x", "y", "width", "height")] == [
        cell.get(k) for k in ("x", "y", "width", "height")
    ]
    shapes = [e.get("class") for e in ElementTree.fromstring(svg).iter("rect")]
    assert shapes[-1] == "chosen"


def test_numbers_are_left_out_where_there_is_no_space():
    few, many = heat_map(), heat_map((tuple([1.5] * 16),), marked=None)
    assert "2.00" in draw(few, "p")
    assert "1.50" not in draw(many, "p")
    assert len(cells(draw(many, "p"))) == 16


@pytest.mark.parametrize("rows", [2, 9, 17, 65])
def test_rows_keep_a_height_that_can_be_read(rows):
    plot = heat_map(tuple((1.0 + n,) for n in range(rows)), marked=None)
    assert 24 <= plot.row <= 44
    heights = [float(e.get("height")) for e in cells(draw(plot, "p")).values()]
    assert sum(heights) < plot.floor
    assert min(float(e.get("y")) for e in cells(draw(plot, "p")).values()) >= 40


@pytest.mark.parametrize(("place", "anchor"), [(0.5, "start"), (1.5, "end")])
def test_the_limit_is_a_line_with_its_words_on_the_paper(place, anchor):
    svg = draw(heat_map(limit=(place, "break-even 3.0")), "p")
    (line,) = named(svg, "reference")
    assert line.get("x1") == line.get("x2")
    texts = ElementTree.fromstring(svg).iter("text")
    (label,) = [e for e in texts if e.text == "break-even 3.0"]
    assert label.get("text-anchor") == anchor
    assert 0 < float(label.get("x")) < 430


def test_without_a_limit_there_is_no_line():
    assert not named(draw(heat_map(), "p"), "reference")


def test_it_can_be_heard_and_is_escaped():
    svg = draw(heat_map(title=HOSTILE, columns=(HOSTILE, "8")), "p7")
    root = ElementTree.fromstring(svg)
    assert root.get("aria-labelledby") == "p7-title p7-desc"
    assert root[0].text == HOSTILE
    assert "<b>" not in svg
