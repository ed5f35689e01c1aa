"""One record's ratios, and what it says where figures are missing."""

import pytest

from trtspec.trtllm.pytorch.metrics import Acceptance, unavailable


def test_ratios_are_those_of_the_counts():
    one = Acceptance(drafted=8, accepted=6, steps=2, source="counters")
    assert (one.acceptance_rate, one.acceptance_length) == (0.75, 4.0)
    assert one.says() == (
        "acceptance rate 75.0% (6 of 8 drafted tokens), acceptance length 4.00 over 2 "
        "verification steps (from counters)"
    )


@pytest.mark.parametrize("drafted", [None, 0])
def test_nothing_drafted_is_no_counter_and_never_0_percent(drafted):
    one = Acceptance(drafted=drafted, accepted=0, source="counters")
    assert one.acceptance_rate is None
    assert "%" not in one.says()
    assert one.says().startswith("acceptance not available from counters")


def test_nothing_accepted_of_something_drafted_is_0_percent():
    one = Acceptance(drafted=4, accepted=0, steps=2)
    assert (one.acceptance_rate, one.acceptance_length) == (0.0, 1.0)


def test_a_reported_mean_stands_in_for_the_length_alone():
    one = Acceptance(tokens_per_iteration=2.5, source="mean", note="as reported")
    assert (one.acceptance_rate, one.acceptance_length) == (None, 2.5)
    assert one.says() == (
        "acceptance rate not available, acceptance length 2.50 (from mean); as reported"
    )


def test_counts_go_before_a_reported_mean():
    one = Acceptance(accepted=3, steps=2, tokens_per_iteration=9.0)
    assert one.acceptance_length == 2.5


def test_a_rate_without_steps_has_no_length():
    one = Acceptance(drafted=4, accepted=2, source="counters")
    assert one.acceptance_length is None
    assert "acceptance length not available" in one.says()


def test_what_is_unavailable_says_why():
    one = unavailable("counters", "the server has none")
    assert not one.is_known
    assert one.says() == ("acceptance not available from counters: the server has none")
