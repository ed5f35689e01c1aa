"""Many candidates in one sentence: by word and name, without any average."""

from __future__ import annotations

import pytest

from trtspec.bench.cells import Cell, Comparison
from trtspec.bench.outputs import Outputs
from trtspec.bench.records import Failure, Load
from trtspec.bench.verdict import Verdict
from trtspec.report.sections.overall import overall

OUTPUTS = Outputs(
    prompts=8, by="text", identical=8, differences=(), off_repeats=8, on_repeats=8
)


def cell(concurrency, **words):
    """Give a load under which each candidate has a word."""
    return Cell(
        load=Load(concurrency=concurrency),
        comparisons={
            name: Comparison(
                ratios={}, verdict=Verdict(word=word.replace("_", " ")), outputs=OUTPUTS
            )
            for name, word in words.items()
        },
    )


@pytest.mark.parametrize("names", [["a"], ["a", "b"]])
def test_few_candidates_speak_for_themselves(names):
    assert overall([cell(1, a="faster", b="slower")], names) == ""


def test_a_candidate_counts_if_one_load_says_so():
    cells = [
        cell(1, a="faster", b="no_claim", c="faster"),
        cell(4, a="slower", b="no_claim", c="no_claim"),
    ]
    assert overall(cells, ["a", "b", "c"]) == (
        "Of 3 candidates 2 are faster under at least one load: a and c; 1 is slower "
        "under at least one load: a."
    )


def test_nobody_is_named_who_is_not_faster():
    cells = [cell(1, a="no_claim", b="no_difference", c="no_claim")]
    assert overall(cells, ["a", "b", "c"]) == (
        "Of 3 candidates none is faster than off under any load; none is slower than "
        "off under any load."
    )


def test_a_load_that_failed_says_nothing_of_anybody():
    failure = Failure(arm="a", block=1, load="c1", prompt_id="p", what="HTTP 503")
    failed = cell(1, a="faster", b="faster", c="faster").model_copy(
        update={"failures": (failure,)}
    )
    assert overall([failed], ["a", "b", "c"]).startswith("Of 3 candidates none is")


def test_a_candidate_that_was_not_measured_is_not_counted():
    said = overall([cell(1, a="slower")], ["a", "b", "c"])
    assert said.endswith("1 is slower under at least one load: a.")
