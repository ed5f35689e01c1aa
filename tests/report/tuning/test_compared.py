"""Methods beside each other, and the categories of the workload."""

from __future__ import annotations

from tests.report.tuning.made import shown
from tests.tune.made_result import candidate, result


def test_one_method_and_one_category_are_compared_with_nothing(plain):
    assert "Methods" not in plain.titles
    assert "By category" not in plain.titles


def test_each_method_has_a_line_in_both_plots(full):
    (figure,) = full.of("Methods", "figure")
    gains, speeds = figure.plots
    assert [s.key.name for s in gains.series] == ["ngram", "suffix", "medusa"]
    assert [s.key.name for s in speeds.series] == [
        "plain decoding",
        "ngram",
        "suffix",
        "medusa",
    ]
    assert [key.name for key in figure.legend] == [s.key.name for s in speeds.series]
    assert [p.y for p in gains.series[0].points] == [1.9, 1.6, 0.88]
    assert [p.y for p in speeds.series[0].points] == [50.0, 200.0, 400.0]
    # without drafts a method is as fast as plain decoding
    assert [p.y for p in speeds.series[3].points] == [50.0, 200.0]


def test_the_table_names_what_each_method_would_be_set_to(full):
    (table,) = full.of("Methods", "table")
    assert table.rows[0][:3] == ("ngram", "{1: 3, 4: 2}", "1.90× [1.71, 2.09]")
    assert table.rows[0][4] == "none: 0.88× [0.79, 0.97] with 1"
    assert table.rows[2][1:3] == ("none", "none: 0.80× [0.72, 0.88] with 1")


def test_categories_have_a_row_each(full):
    (table,) = full.of("By category", "table")
    assert table.columns == ("category", "1 running", "4 running", "8 running")
    assert table.rows == (("chat", "2", "none", "none"), ("code", "4", "3", "1"))
    assert full.of("By category", "text") == []


def test_categories_that_agree_are_said_to(tmp_path):
    same = {"chat": {1: 3, 4: 2, 8: 0}, "code": {1: 3, 4: 2, 8: 0}}
    page = shown(tmp_path, result(candidate(by_category=same)))
    (text,) = page.of("By category", "text")
    assert text.text == "Every category alone would get the same draft lengths."
