"""The cost model beside published numbers: where it agrees, and where it does not.

Nothing here is wanted to agree. What is pinned is what the comparison says, misses
alike, so that a change of the model shows in how it stands to what was published.
"""

from __future__ import annotations

import pytest

from scripts.tune_published import (
    BOUNDS,
    LACKING,
    LADDERS,
    compare,
    fall,
    told,
)
from tests.tune.price.conftest import absent, fake

__all__ = ["absent", "fake"]

EAGLE3, EAGLE, SHORT, LONG = LADDERS


def words(ladder, directory, by):
    """By batch size: cache read once per request, and once per token."""
    rows = compare(ladder, directory, by).rows
    return {r.batch: (r.word(r.predicted), r.word(r.upper)) for r in rows}


GIVEN, BOTH = ("given", "given"), ("agrees", "agrees")
UPPER, NEITHER = ("misses", "agrees"), ("misses", "misses")


@pytest.mark.usefixtures("fake")
@pytest.mark.parametrize(
    ("ladder", "expected"),
    [
        (
            EAGLE3,
            {
                2: GIVEN,
                4: BOTH,
                8: UPPER,
                16: NEITHER,
                24: NEITHER,
                32: NEITHER,
                48: UPPER,
                56: UPPER,
                64: NEITHER,
            },
        ),
        (
            EAGLE,
            {
                2: GIVEN,
                4: BOTH,
                8: UPPER,
                16: NEITHER,
                24: NEITHER,
                32: NEITHER,
                48: NEITHER,
                56: UPPER,
                64: UPPER,
            },
        ),
        (SHORT, {1: BOTH, 8: NEITHER}),
        (LONG, {32: UPPER}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_by_measured_kernels(tmp_path, ladder, expected):
    assert words(ladder, tmp_path, "priced") == expected


@pytest.mark.usefixtures("fake")
def test_break_even_of_eagle_is_published_lower_than_either_basis_has_it(tmp_path):
    """A miss: 16 to 24 running requests published, 48 to 56 at the least predicted."""
    found = compare(EAGLE, tmp_path, "priced")
    assert found.break_even() == ("16 to 24", "above 64", "48 to 56")


@pytest.mark.usefixtures("fake")
def test_break_even_of_eagle3_is_beyond_what_was_looked_at(tmp_path):
    found = compare(EAGLE3, tmp_path, "priced")
    assert found.break_even() == ("above 64", "above 64", "above 64")


@pytest.mark.usefixtures("absent")
def test_a_roofline_overstates_the_gain_under_load_even_more(tmp_path):
    found = compare(EAGLE, tmp_path)
    assert found.priced.verify.source == "roofline"
    assert found.break_even() == ("16 to 24", "above 64", "32 to 48")
    over = [row for row in found.rows if row.batch >= 16]
    assert all(row.predicted > 1.3 * row.published for row in over)


@pytest.mark.usefixtures("fake")
def test_the_plain_step_is_within_a_tenth_where_the_engine_is_a_fast_one(tmp_path):
    sglang, vllm = (compare(one, tmp_path, "priced") for one in (EAGLE3, SHORT))
    assert sglang.plain == pytest.approx(sglang.ladder.plain, rel=0.1)
    assert vllm.plain == pytest.approx(vllm.ladder.plain, rel=0.2)


@pytest.mark.usefixtures("fake")
def test_the_acceptance_length_that_a_first_rung_implies_is_a_possible_one(tmp_path):
    for ladder in (EAGLE3, EAGLE):
        found = compare(ladder, tmp_path, "priced")
        assert 1 < found.tokens <= found.upper_tokens < 1 + ladder.length


@pytest.mark.usefixtures("fake")
def test_a_page_states_both_figures_of_each_rung(tmp_path):
    lines = [str(line) for line in told(compare(EAGLE, tmp_path, "priced"))]
    assert lines[0].startswith("\nEAGLE under load (EAGLE-3 paper")
    assert lines[-1] == (
        "break-even batch: 16 to 24 published, above 64 predicted, 48 to 56 with the "
        "cache read per token"
    )


def test_no_cost_can_explain_a_ratio_above_the_acceptance_length():
    impossible = [name for name, ratio, most in BOUNDS if ratio > most]
    assert impossible == ["TensorRT-LLM blog 7, n-gram, batch 1, second turn"]


def test_what_is_not_compared_says_why():
    assert len(LACKING) == 13
    assert all(len(why) > 10 for why in LACKING.values())


@pytest.mark.parametrize(
    ("ratios", "expected"),
    [
        ([1.4, 1.2, 0.9], "4 to 8"),
        ([1.4, 1.2, 1.0], "above 8"),
        ([0.9, 0.8, 0.7], "below 2"),
        ([1.4, 0.9, 1.1], "2 to 4"),
    ],
)
def test_break_even_is_where_a_ratio_first_falls_below_1(ratios, expected):
    assert fall(list(zip([2, 4, 8], ratios, strict=True))) == expected
