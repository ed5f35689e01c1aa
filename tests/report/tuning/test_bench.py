"""Prediction and bench beside each other: where they disagree, and the regret."""

from __future__ import annotations

import pytest

from tests.report.tuning.made import RUN, everything, shown
from tests.tune.made_result import EXHAUSTIVE, confirmed

TITLE = "Prediction and bench"


def test_without_a_bench_there_is_no_such_section(plain):
    assert TITLE not in plain.titles


def test_each_load_has_a_plot_with_both(full):
    (figure,) = full.of(TITLE, "figure")
    assert [plot.titles[1] for plot in figure.plots] == [
        "concurrency 1: throughput / plain decoding",
        "concurrency 4: throughput / plain decoding",
    ]
    predicted, measured = figure.plots[0].series
    assert predicted.key.dashed
    assert not measured.key.dashed
    assert [p.x for p in predicted.points] == [0, 1, 2, 3, 4]
    assert [p.x for p in measured.points] == [1, 2, 3, 4]
    assert all(p.interval for p in measured.points)


def test_every_arm_of_the_bench_is_in_the_table(full):
    (table,) = full.of(TITLE, "table")
    assert [row[1] for row in table.rows if row[0] == "4"] == list(RUN.arms)
    otherwise = table.columns.index("predicted otherwise")
    told = {(row[0], row[1]): row[otherwise] for row in table.rows}
    assert told["4", "tuned"] == "1.60"
    assert told["1", "tuned"] == "–"


def test_what_was_predicted_otherwise_is_said(full):
    said = [x for block in full.of(TITLE, "bullets") for x in block.items]
    assert said == [
        "Prediction and bench disagree at concurrency 4, tuned: 1.60 predicted, "
        "1.30 [1.23, 1.37] measured.",
        "Regret at concurrency 1: none.",
        "Regret at concurrency 4: 1.3% below the best draft length.",
    ]


def test_agreement_is_said_too(tmp_path):
    agreed = EXHAUSTIVE.model_copy(update={"disagreements": (), "regret": {}})
    page = shown(tmp_path, confirmed(agreed), RUN)
    assert [text.text for text in page.of(TITLE, "text")] == [
        "Every prediction lies within the measured interval."
    ]


def test_a_run_that_is_gone_is_said_to_be(tmp_path):
    page = shown(tmp_path, confirmed())
    assert page.of(TITLE, "text")[-1].text == (
        "The run confirmation is not beside the document any more."
    )
    assert page.of(TITLE, "figure") == []


@pytest.mark.parametrize("failure", ["HTTP 503 of http://me:hunter2@host: overloaded"])
def test_a_bench_without_a_ratio_says_why(tmp_path, failure):
    from dataclasses import replace

    run = replace(RUN, loads=RUN.loads[:1], fail=RUN.loads[0], failure=failure)
    page = shown(tmp_path, everything(), run)
    (note,) = page.of(TITLE, "note")
    assert note.text.startswith(
        "The bench gave no ratio, so what is shown is predicted"
    )
    assert "overloaded" in note.text
    assert "hunter2" not in page.html + page.markdown
    assert page.of(TITLE, "table") == []
