"""What a tuning looks like on the terminal: the choice first, then the grounds."""

from __future__ import annotations

import re
from io import StringIO

from rich.console import Console

from tests.tune.made_result import candidate, confirmed, no_drafts, result
from trtspec.tune.sentences import headline, notes
from trtspec.tune.table import print_tuning


def printed(found, width=200):
    out = StringIO()
    print_tuning(found, Console(file=out, width=width))
    return out.getvalue()


def cells(text, first):
    """The cells of the row that begins with a word."""
    rows = [re.split(r" {2,}", line.strip()) for line in text.splitlines()]
    return next(row for row in rows if row[0] == first)


def test_the_choice_comes_first_and_the_bill_last():
    lines = printed(result()).splitlines()
    assert lines[:2] == headline(result())
    assert lines[-1] == notes(result())[-1]


def test_every_note_is_one_line_however_narrow_the_terminal():
    out = printed(confirmed(), width=60)
    for line in notes(confirmed()):
        assert line in out.splitlines()


def test_a_load_has_prediction_measurement_and_verdict():
    out = printed(confirmed())
    assert cells(out, "4") == [
        "4",
        "2",
        "1.60 [1.44, 1.76]",
        "1.30 [1.23, 1.37]",
        "faster",
    ]


def test_a_load_that_was_not_measured_has_a_dash():
    assert cells(printed(result()), "1")[3] == "-"


def test_where_nothing_is_drafted_the_best_length_is_shown_and_named():
    row = cells(printed(confirmed()), "8")
    assert row[1] == "none (best: 1)"
    assert row[2:] == ["0.88 [0.79, 0.97]", "0.80 [0.76, 0.84]", "slower"]
    assert "do not speculate" in printed(result(no_drafts())).splitlines()[0]


def test_the_surface_has_a_row_per_length_and_a_column_per_batch():
    out = printed(result())
    assert cells(out, "draft length")[1:] == ["tokens/step", "1", "4", "8"]
    assert cells(out, "none") == ["none", "1.00", "50.0", "200.0", "400.0"]
    title = "ngram: predicted tokens/s while so many requests decode"
    assert title in " ".join(out.split())


def test_methods_stand_beside_each_other_if_there_are_several():
    alone = printed(result())
    assert "Methods" not in alone
    out = printed(result(candidate(), no_drafts("suffix")))
    assert cells(out, "ngram") == [
        "ngram",
        "1.90",
        "1.60",
        "none (0.88)",
        "{1: 3, 4: 2}",
    ]


def test_methods_that_draft_nowhere_are_shown_with_their_best():
    out = printed(result(no_drafts("a"), no_drafts("b")))
    assert cells(out, "b") == ["b", "none (0.80)", "none (0.70)", "none"]


def test_no_interval_is_broken_on_a_terminal_of_80_columns():
    lines = printed(confirmed(), width=80).splitlines()
    (row,) = [line for line in lines if "none (best: 1)" in line]
    assert "0.88 [0.79, 0.97]" in row
    assert "0.80 [0.76, 0.84]" in row
