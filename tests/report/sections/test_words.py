"""One sentence per candidate: every load by its word, in order."""

from __future__ import annotations

import pytest

from trtspec.bench.cells import Cell
from trtspec.bench.records import Failure, Load
from trtspec.report.sections.words import headline, word_of


def cells(*loads):
    return [Cell(load=load) for load in loads]


def failed(load):
    failure = Failure(arm="on", block=1, load=load.key, prompt_id="p", what="gone")
    return Cell(load=load, failures=(failure,))


def test_a_failure_and_a_missing_load_have_words_of_their_own():
    first, second = Load(concurrency=1), Load(concurrency=4)
    found = [failed(first), Cell(load=second)]
    assert [word_of(cell, "on") for cell in found] == ["failed", "not measured"]
    assert headline(found, "on") == (
        "failed at concurrency 1, not measured at concurrency 4."
    )


@pytest.mark.parametrize(
    ("loads", "said"),
    [
        ([Load(concurrency=2)], "concurrency 2"),
        ([Load(concurrency=c) for c in (1, 2, 8)], "concurrency 1, 2 and 8"),
        (
            [Load(arrivals="poisson", rate=r) for r in (0.5, 2.0)],
            "0.5 and 2 requests/s, Poisson",
        ),
        (
            [Load(concurrency=1), Load(arrivals="fixed", rate=3.0)],
            "concurrency 1 and 3 requests/s, evenly spaced",
        ),
    ],
)
def test_loads_of_one_word_are_named_together(loads, said):
    assert headline(cells(*loads), "on") == f"not measured at {said}."


def test_categories_are_told_one_after_another():
    loads = [Load(concurrency=c, category=k) for c in (1, 4) for k in ("b", "a")]
    said = "not measured at concurrency 1 and 4"
    assert headline(cells(*loads), "on") == f"b: {said}; a: {said}."
