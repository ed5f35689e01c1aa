"""The drawings: where things lie, what they are called, what is escaped."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from trtspec.bench.ratio import Ratio
from trtspec.report.plots import draw
from trtspec.report.plots.bars import Bar, Part, StackedBars
from trtspec.report.plots.dots import Dot, DotRow, DotRows
from trtspec.report.plots.interval import draw_axis, draw_interval, shared_scale
from trtspec.report.plots.lines import Band, LinePlot, Point, Series
from trtspec.report.plots.scale import (
    Scale,
    linear_ticks,
    log_padded,
    log_ticks,
    padded,
    tick_text,
)
from trtspec.report.plots.steps import MOST_STEPS, Distribution, StepPlot, staircase
from trtspec.report.plots.svg import Key, marker, number

HOSTILE = "<script>alert('x')</script>"


def read(svg):
    return ElementTree.fromstring(svg)


def named(svg, css):
    return [e for e in read(svg).iter() if css in (e.get("class") or "").split()]


def test_a_scale_maps_its_ends_to_the_paper():
    linear = Scale(10, 20, 0, 100)
    assert [linear(v) for v in (10, 15, 20)] == [0, 50, 100]
    log = Scale(1, 100, 200, 0, log=True)
    assert [round(log(v)) for v in (1, 10, 100)] == [200, 100, 0]


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0, 1, [0, 0.25, 0.5, 0.75, 1]),
        (-5, 95, [0, 20, 40, 60, 80]),
        (42, 195, [50, 100, 150]),
        (0.012, 0.019, [0.012, 0.014, 0.016, 0.018]),
    ],
)
def test_linear_ticks_are_round_and_inside(low, high, ticks):
    assert linear_ticks(low, high) == pytest.approx(ticks)


def test_log_ticks_are_one_two_five():
    assert log_ticks(0.5, 30) == [0.5, 1, 2, 5, 10, 20]


def test_a_narrow_log_scale_still_has_ticks():
    assert len(Scale(0.93, 1.12, 0, 1, log=True).ticks()) >= 3


def test_a_wide_log_scale_has_not_too_many():
    assert len(Scale(1e-3, 1e4, 0, 1, log=True).ticks(5)) <= 7


@pytest.mark.parametrize("values", [[3.0], [0.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
def test_no_scale_is_of_no_width(values):
    low, high = padded(values)
    assert low < min(values) <= max(values) < high


def test_a_log_scale_around_one_value_has_width():
    low, high = log_padded([1.0])
    assert 0 < low < 1 < high


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0"), (0.25, "0.25"), (1200, "1200"), (25_000, "25k")]
)
def test_ticks_are_short(value, text):
    assert tick_text(value) == text


def test_coordinates_are_short():
    assert [number(v) for v in (1.0, 1.256, -0.0001)] == ["1", "1.26", "0"]


def ladder(**changes):
    on = Key(HOSTILE, 1)
    points = (
        Point(1, 2.0, (1.8, 2.2), "concurrency 1: 2.00×"),
        Point(4, 0.5, (0.4, 0.6), "concurrency 4: 0.50×"),
    )
    given = {
        "title": f"Ratio {HOSTILE}",
        "description": HOSTILE,
        "titles": ("requests", "ratio"),
        "ticks": ((1, "1"), (4, "4")),
        "series": (Series(on, points), Series(Key("off", 0, True), points)),
        "log_x": True,
        "log_y": True,
        "reference": (1.0, "off"),
        "bands": (Band(on, 1.5, 3.0, "break-even"),),
    }
    return LinePlot(**{**given, **changes})


def test_a_ladder_has_points_whiskers_and_the_line_at_one():
    svg = draw(ladder(), "p")
    (reference,) = named(svg, "reference")
    first, second = [float(e.get("cy")) for e in named(svg, "marker")][:2]
    one = float(reference.get("y1"))
    assert first < one < second  # upwards on paper is faster
    # 2.0 and 0.5 are as far from 1 on a logarithmic axis
    assert one - first == pytest.approx(second - one, abs=0.02)
    assert len(named(svg, "whisker")) == 4 * 3
    assert len(named(svg, "band")) == 1


def test_points_of_two_series_do_not_cover_one_another():
    svg = draw(ladder(), "p")
    places = [float(e.get("cx")) for e in named(svg, "marker")]
    assert len(set(places)) == 4


def test_ghosts_share_the_axes_and_have_no_points():
    points = (Point(1, 8.0, None, ""), Point(4, 0.1, None, ""))
    plain = named(draw(ladder(), "p"), "reference")[0].get("y1")
    svg = draw(ladder(ghosts=(Series(Key("other", 2), points),)), "p")
    assert len(named(svg, "ghost")) == 1
    assert len(named(svg, "marker")) == 4
    assert named(svg, "reference")[0].get("y1") != plain


def test_series_of_one_colour_have_different_shapes():
    first, ninth = Key("a", 1), Key("b", 9)
    assert first.css == ninth.css
    assert marker(first, 0, 0, "")[:7] != marker(ninth, 0, 0, "")[:7]


def test_a_band_stays_on_the_paper():
    svg = draw(ladder(bands=(Band(Key("on", 1), 0.001, 1000.0, "x"),)), "p")
    (band,) = named(svg, "band")
    assert float(band.get("x1")) >= 44
    assert float(band.get("x2")) <= 420
    (reference,) = named(svg, "reference")
    assert band.get("y1") == reference.get("y1")


def test_a_single_point_needs_no_line():
    key = Key("on", 1)
    alone = Series(key, (Point(4, 1.2, None, "x"),))
    svg = draw(ladder(series=(alone,), ticks=((4, "4"),), bands=()), "p")
    assert not named(svg, "line")
    assert len(named(svg, "marker")) == 1


def test_a_plot_has_a_title_and_a_description_for_those_who_hear_it():
    svg = read(draw(ladder(), "p7"))
    assert svg.get("role") == "img"
    assert svg.get("aria-labelledby") == "p7-title p7-desc"
    title, description = list(svg)[:2]
    assert (title.get("id"), description.get("id")) == ("p7-title", "p7-desc")
    assert title.text == f"Ratio {HOSTILE}"


def test_names_are_escaped():
    assert "<script" not in draw(ladder(), "p")
    bars = StackedBars("t", "d", "c1", "ms", (Bar(HOSTILE, HOSTILE, ()),))
    assert "<script" not in draw(bars, "p")


def test_a_staircase_steps_at_each_value():
    assert staircase([2.0, 1.0]) == [(1, 0), (1, 0), (1, 0.5), (2, 0.5), (2, 1)]


def test_a_long_staircase_keeps_its_ends_and_is_thinned():
    corners = staircase([float(i) for i in range(10_000)])
    assert len(corners) == MOST_STEPS
    assert corners[0] == (0, 0)
    assert corners[-1] == (9999, 1)
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(corners))


def test_distributions_rise_from_the_floor_to_the_top():
    plot = StepPlot(
        "t", "d", "TTFT ms", (Distribution(Key("off", 0), (1.0, 5.0, 100.0)),)
    )
    (path,) = named(draw(plot, "p"), "steps")
    heights = [float(y) for _, y in re.findall(r"([\d.]+) ([\d.]+)", path.get("d"))]
    assert heights[0] == 236 - 24
    assert heights[-1] == 30


def test_equal_values_can_be_drawn():
    plot = StepPlot("t", "d", "TTFT ms", (Distribution(Key("off", 0), (0.0, 0.0)),))
    assert "nan" not in draw(plot, "p")


def test_bars_share_one_axis_and_parts_join():
    parts = (Part("a", "p-draft", 1.0, "x"), Part("b", "p-rest", 3.0, "y"))
    bars = (
        Bar("on", "4 ms", parts),
        Bar("off", "2 ms", (Part("b", "p-rest", 2.0, ""),)),
    )
    svg = draw(StackedBars("t", "d", "c1", "ms", bars), "p")
    first, second, other = named(svg, "part")
    assert float(second.get("width")) == pytest.approx(
        3 * float(first.get("width")), 0.01
    )
    assert float(first.get("x")) + float(first.get("width")) == pytest.approx(
        float(second.get("x")), abs=0.02
    )
    assert float(other.get("width")) == pytest.approx(336 / 2, 0.01)


def test_dots_of_a_row_lie_on_the_shared_axis():
    on, other = Key("on", 1), Key(HOSTILE, 2)
    rows = (
        DotRow("code", (Dot(on, 3.0, "3.00"), Dot(other, 2.0, "2.00"))),
        DotRow("chat", (Dot(on, 2.0, "2.00"),)),
    )
    svg = draw(DotRows("t", "d", "c1", "tokens per step", rows, 1.0), "p")
    three, two, again = named(svg, "marker")
    assert two.get("points")  # another shape than a circle
    first, last = float(three.get("cx")), float(again.get("cx"))
    assert 0 < last < first < 340
    assert float(again.get("cy")) > float(three.get("cy"))
    assert "<script" not in svg


def ratio(low, estimate, high):
    return Ratio(
        estimate=estimate,
        interval=(low, high),
        prompts_interval=None,
        blocks_interval=None,
    )


def test_all_intervals_lie_on_the_shared_axis():
    ratios = [ratio(0.2, 0.5, 0.9), None, ratio(1.5, 2.0, 8.0)]
    scale = shared_scale(ratios)
    for of in filter(None, ratios):
        assert 14 <= scale(of.interval[0]) < scale(of.interval[1]) <= 286
    svg = draw_interval(ratios[0], scale, "w-bad", "slower")
    (reference,) = named(svg, "reference")
    (dot,) = named(svg, "marker")
    assert float(dot.get("cx")) < float(reference.get("x1"))


def test_a_small_difference_is_not_blown_up():
    scale = shared_scale([ratio(0.999, 1.0, 1.001)])
    assert scale.high / scale.low > 1.08


def test_the_axis_always_names_one():
    for of in (ratio(0.999, 1.0, 1.001), ratio(1.2, 1.5, 6.0), ratio(0.01, 0.1, 0.2)):
        svg = draw_axis(shared_scale([of]))
        assert "1×" in [e.text for e in named(svg, "tick")]


def test_a_row_without_a_ratio_has_the_line_only():
    svg = draw_interval(None, shared_scale([]), "w-fail", "failed")
    assert named(svg, "reference")
    assert not named(svg, "marker")
    assert not math.isnan(shared_scale([])(1.0))
