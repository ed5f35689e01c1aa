"""What may be said: every word, every reason for none."""

from __future__ import annotations

import pytest

from trtspec.bench.ratio import Ratio
from trtspec.bench.verdict import judge, unusable


def ratio(low: float, high: float) -> Ratio:
    return Ratio(
        estimate=(low * high) ** 0.5,
        interval=(low, high),
        prompts_interval=(low, high),
        blocks_interval=(low, high),
    )


def said(speed, e2e=None, *, blocks=3, prompts=8, drafted=1, **more):
    return judge(speed, e2e, blocks=blocks, prompts=prompts, drafted=drafted, **more)


def word(*given, **more) -> str:
    return said(*given, **more).word


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ((1.2, 1.4), "faster"),
        ((1.001, 1.05), "faster"),
        ((0.7, 0.9), "slower"),
        ((0.96, 0.999), "slower"),
        ((0.98, 1.02), "no difference"),
        ((1.005, 1.02), "no difference"),
        ((0.97, 1.03), "no difference"),
        ((0.96, 1.02), "no claim"),
        ((0.99, 1.31), "no claim"),
        ((1.0, 1.2), "no claim"),
    ],
)
def test_the_interval_decides(interval, expected):
    assert word(ratio(*interval)) == expected


@pytest.mark.parametrize(
    "few", [{"blocks": 2}, {"prompts": 7}, {"blocks": 1, "prompts": 1}]
)
def test_too_little_data_carries_no_claim(few):
    verdict = said(ratio(1.5, 1.6), **few)
    assert verdict.word == "no claim"
    assert "needs 3 blocks and 8 prompts" in verdict.reason


def test_too_little_data_carries_no_equality_either():
    assert word(ratio(0.99, 1.01), blocks=2) == "no claim"


def test_without_a_ratio_or_interval_there_is_no_claim():
    bare = Ratio(
        estimate=2.0, interval=None, prompts_interval=None, blocks_interval=None
    )
    assert word(None) == "no claim"
    assert word(bare) == "no claim"


def test_latency_on_the_other_side_vetoes():
    assert word(ratio(1.2, 1.4), ratio(1.05, 1.2)) == "no claim"
    assert word(ratio(0.7, 0.8), ratio(0.8, 0.9)) == "no claim"


def test_latency_that_agrees_or_is_open_does_not_veto():
    assert word(ratio(1.2, 1.4), ratio(0.7, 0.8)) == "faster"
    assert word(ratio(1.2, 1.4), ratio(0.9, 1.1)) == "faster"
    assert word(ratio(0.7, 0.8), ratio(1.2, 1.3)) == "slower"


def test_a_gain_with_nothing_drafted_is_not_claimed():
    assert word(ratio(1.2, 1.4), drafted=0) == "no claim"
    assert word(ratio(0.7, 0.8), drafted=0) == "slower"
    assert word(ratio(1.2, 1.4), drafted=None) == "faster"


def test_a_doubt_takes_every_claim_away_and_says_why():
    for interval in ((1.5, 1.6), (0.99, 1.01), (0.5, 0.6)):
        verdict = said(ratio(*interval), doubts=["acceptance is forced"])
        assert (verdict.word, verdict.reason) == ("no claim", "acceptance is forced")


class TestControl:
    """Off against off in the same run."""

    @pytest.mark.parametrize("interval", [(1.2, 1.4), (0.7, 0.8), (0.98, 1.01)])
    @pytest.mark.parametrize("control", [None, ratio(0.99, 1.02), ratio(0.8, 1.3)])
    def test_one_that_shows_no_difference_changes_nothing(self, interval, control):
        assert word(ratio(*interval), control=control) == word(ratio(*interval))

    def test_a_difference_within_the_machines_own_is_no_claim(self):
        verdict = said(ratio(1.02, 1.10), control=ratio(1.03, 1.07))
        assert verdict.word == "no claim"
        assert "off again / off is 1.050 [1.030, 1.070]" in verdict.reason

    def test_its_direction_does_not_matter(self):
        assert word(ratio(1.02, 1.10), control=ratio(0.93, 0.97)) == "no claim"
        assert word(ratio(0.90, 0.98), control=ratio(1.03, 1.07)) == "no claim"

    def test_a_difference_beyond_it_is_claimed(self):
        assert word(ratio(1.2, 1.4), control=ratio(1.03, 1.07)) == "faster"
        assert word(ratio(0.7, 0.8), control=ratio(1.03, 1.07)) == "slower"

    def test_no_difference_is_not_said_where_the_machine_moves_by_more(self):
        assert word(ratio(0.98, 1.02), control=ratio(1.03, 1.07)) == "no claim"
        assert word(ratio(0.99, 1.01), control=ratio(1.001, 1.003)) == "no difference"


def test_every_no_claim_has_a_reason():
    for interval in ((0.9, 1.2), (1.0, 1.0001), (1.2, 1.3)):
        verdict = said(ratio(*interval))
        assert bool(verdict.reason) == (verdict.word == "no claim")


def test_numbers_are_usable_without_being_a_claim():
    assert unusable(3, 8, []) == ""
    assert "has 2 and 8" in unusable(2, 8, [])
    assert unusable(3, 8, ["a", "b"]) == "a; b"


@pytest.mark.parametrize(
    ("prompts", "blocks", "named"),
    [
        ((0.7, 1.2), (0.9, 1.1), "prompts"),
        ((0.9, 1.1), (0.7, 1.2), "repeats"),
        ((0.8, 1.2), (0.8, 1.2), "prompts and repeats"),
        (None, (0.7, 1.2), "prompts or repeats"),
        ((0.7, 1.2), None, "prompts or repeats"),
    ],
)
def test_what_would_narrow_the_interval_is_what_makes_it_wide(prompts, blocks, named):
    speed = ratio(0.7, 1.2).model_copy(
        update={"prompts_interval": prompts, "blocks_interval": blocks}
    )
    assert said(speed).reason == f"the interval contains 1; more {named} narrow it"
