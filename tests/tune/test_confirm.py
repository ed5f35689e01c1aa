"""The measurement has the last word."""

from __future__ import annotations

import pytest

from trtspec.tune.confirm import TUNED, fixed_name, outside, regret, revise
from trtspec.tune.result import Measurement


def measured(gain: float, reach: float = 0.05, word: str = "") -> Measurement:
    low, high = gain - reach, gain + reach
    told = word or ("faster" if low > 1 else "slower" if high < 1 else "no claim")
    return Measurement(gain=gain, interval=(low, high), word=told)


def test_what_was_right_stays():
    found = revise({1: 4, 4: 2}, {1: {TUNED: measured(1.4)}, 4: {TUNED: measured(1.1)}})
    assert found.lengths == {1: 4, 4: 2}
    assert found.arms == {1: TUNED, 4: TUNED}
    assert found.changed == ()


def test_what_turned_out_slower_is_not_drafted():
    found = revise({1: 4, 4: 2}, {1: {TUNED: measured(1.4)}, 4: {TUNED: measured(0.8)}})
    assert found.lengths == {1: 4, 4: 0}
    (told,) = found.changed
    assert "at 4 running" in told
    assert "0.80" in told


def test_slower_at_a_small_batch_ends_it_for_all_larger_ones():
    found = revise({1: 4, 4: 2}, {1: {TUNED: measured(0.8)}, 4: {TUNED: measured(1.0)}})
    assert found.lengths == {1: 0, 4: 0}


def test_a_length_that_is_clearly_better_is_taken():
    arms = {TUNED: measured(1.2), fixed_name(6): measured(1.4)}
    found = revise({1: 4, 4: 2}, {1: arms})
    assert found.lengths == {1: 6, 4: 2}
    assert found.arms == {1: "draft length 6"}
    assert "1.40" in found.changed[0]
    assert "1.20" in found.changed[0]


def test_a_length_that_may_be_better_is_not():
    arms = {TUNED: measured(1.2), fixed_name(6): measured(1.24)}
    assert revise({1: 4}, {1: arms}).lengths == {1: 4}


def test_a_better_one_of_two_slow_ones_is_not_taken():
    arms = {TUNED: measured(0.7), fixed_name(1): measured(0.9)}
    assert revise({1: 4}, {1: arms}).lengths == {1: 0}


def test_without_an_interval_nothing_is_better():
    other = Measurement(gain=3.0, interval=None, word="no claim")
    assert revise(
        {1: 4}, {1: {TUNED: measured(1.2), fixed_name(6): other}}
    ).lengths == {1: 4}


def test_where_nothing_was_to_be_drafted_a_clear_gain_changes_it():
    found = revise({1: 0}, {1: {fixed_name(3): measured(1.8)}})
    assert found.lengths == {1: 3}
    assert found.arms == {1: "draft length 3"}
    same = revise({1: 0}, {1: {fixed_name(3): measured(0.9)}})
    assert same.lengths == {1: 0}
    assert same.arms == {1: "draft length 3"}
    assert same.changed == ()


def test_a_load_without_numbers_changes_nothing():
    assert revise({1: 4}, {1: {}}).lengths == {1: 4}


def test_regret_is_against_the_best_plain_decoding_included():
    arms = {
        TUNED: measured(1.3),
        fixed_name(2): measured(1.3),
        fixed_name(4): measured(1.25),
    }
    assert regret({1: 4}, {1: arms}) == {1: pytest.approx(1 - 1.25 / 1.3)}
    assert regret({1: 0}, {1: arms}) == {1: pytest.approx(1 - 1 / 1.3)}
    slow = {fixed_name(2): measured(0.9)}
    assert regret({1: 2}, {1: slow}) == {1: pytest.approx(0.1)}
    assert regret({1: 0}, {1: slow}) == {1: 0}


@pytest.mark.parametrize(
    ("predicted", "is_outside"),
    [(1.2, False), (1.26, True), (1.14, True), (1.25, False)],
)
def test_a_prediction_disagrees_outside_of_the_interval(predicted, is_outside):
    assert outside(predicted, measured(1.2)) is is_outside


def test_without_an_interval_nothing_disagrees():
    assert not outside(9.0, Measurement(gain=1.0, interval=None, word="no claim"))
