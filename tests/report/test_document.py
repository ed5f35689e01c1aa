"""What tables keep and leave out, and which of their columns are numbers."""

from __future__ import annotations

import pytest

from trtspec.report.document import Figure, Table
from trtspec.report.plots.lines import LinePlot


def test_columns_in_which_nothing_stands_are_left_out():
    table = Table.of(
        ("load", "arm", "a", "b", "why", "note"),
        [("c1", "on", "–", "1", "", "x"), ("c4", "on", "-", "–", "", "")],
        words=2,
        last=2,
    )
    assert table.columns == ("load", "arm", "b", "note")
    assert table.rows == (("c1", "on", "1", "x"), ("c4", "on", "–", ""))
    assert [table.numeric(i) for i in range(4)] == [False, False, True, False]


def test_the_first_words_stay_even_if_they_are_empty():
    table = Table.of(("metric", "unit", "value"), [("x", "", "1")], words=2)
    assert table.columns == ("metric", "unit", "value")


def test_a_row_is_as_long_as_the_head():
    with pytest.raises(IndexError):
        Table.of(("a", "b", "c"), [("1", "2")])


@pytest.mark.parametrize(
    ("count", "width", "wide"), [(2, 420, True), (3, 420, False), (2, 340, False)]
)
def test_two_large_plots_have_the_whole_width(count, width, wide):
    plot = LinePlot("t", "d", ("x", "y"), (), (), size=(width, 240))
    assert Figure((plot,) * count, "caption").wide is wide
