"""Times of whole steps become tables from which the same times are read."""

from __future__ import annotations

import pytest

from trtspec.errors import RunError
from trtspec.tune.deployed.tables import step_costs

CHAINS = {
    (1, 0): [1.0, 1.2, 1.1],
    (1, 2): [1.5, 1.5, 1.6],
    (1, 6): [2.0, 1.9, 2.1],
    (4, 0): [2.0, 2.0, 2.0],
    (4, 2): [2.4, 2.4, 2.4],
    (4, 6): [4.0, 4.0, 4.0],
}


def chains(**changes):
    return step_costs(CHAINS, 0.01, **{"most_read": 6, "by_nodes": False} | changes)


@pytest.mark.parametrize(
    ("batch", "length", "seconds"),
    [(1, 0, 1.1), (1, 2, 1.5), (1, 6, 2.0), (4, 0, 2.0), (4, 6, 4.0), (1, 4, 1.75)],
)
def test_a_step_takes_what_was_timed(batch, length, seconds):
    assert chains().step(batch, length) == pytest.approx(seconds)


def test_what_was_found_for_a_draft_changes_nothing():
    """An engine's drafts are padded, and the mean over what is found was timed."""
    found = chains()
    assert {found.step(4, 6, read) for read in range(7)} == {4.0}


def test_a_draft_that_an_end_cuts_is_paid_as_the_shortest():
    assert chains().step(1, 1) == pytest.approx(1.5)


def test_between_batch_sizes_the_straight_line_counts():
    assert chains().step(2, 0) == pytest.approx(1.1 + 0.9 / 3)


def test_a_step_that_drafts_costs_no_less_than_a_plain_one():
    noisy = CHAINS | {(1, 2): [0.9, 0.9, 0.9]}
    found = step_costs(noisy, 0.0, most_read=6, by_nodes=False)
    assert found.step(1, 2) == pytest.approx(1.1)


def test_it_says_that_it_was_measured_how_sure_it_is_and_what_reading_takes():
    found = chains()
    assert found.verify.source == found.draft.source == "measured"
    assert found.verify.error > 0
    assert found.reading(3, 50, drafts=True) == pytest.approx(0.5)
    assert found.reading(3, 50, drafts=False) == pytest.approx(0.5)
    sure = {place: [seconds[0]] * 3 for place, seconds in CHAINS.items()}
    assert step_costs(sure, 0.0, most_read=6, by_nodes=False).error == 0


def test_of_trees_the_whole_step_stands_with_its_nodes():
    found = step_costs(CHAINS, 0.0, most_read=6, by_nodes=True)
    assert found.step(1, 2, 6) == pytest.approx(2.0)
    assert found.step(1, 3, 2) == pytest.approx(1.5)
    assert found.step(1, 0) == pytest.approx(1.1)


@pytest.mark.parametrize("place", [(4, 0), (1, 6)])
def test_a_hole_is_an_error_that_names_it(place):
    holed = {p: s for p, s in CHAINS.items() if p != place} | {place: []}
    what = "draft length 6" if place[1] else "plain decoding"
    with pytest.raises(RunError, match=f"{what} at {place[0]} running"):
        step_costs(holed, 0.0, most_read=6, by_nodes=False)
