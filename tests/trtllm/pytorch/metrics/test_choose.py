"""True counters go before what is derived."""

import pytest

from trtspec.trtllm.pytorch.metrics import (
    Acceptance,
    choose,
    from_response,
    unavailable,
)

COUNTED = Acceptance(drafted=8, accepted=4, steps=2, source="iterations")
NO_STEPS = Acceptance(drafted=8, accepted=4, source="Prometheus")
DERIVED = from_response(2.25, 9)
NOTHING = unavailable("counters", "not filled")


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (COUNTED, NO_STEPS),
        (NO_STEPS, DERIVED),
        (DERIVED, from_response(2.25)),
        (from_response(2.25), NOTHING),
    ],
)
def test_the_truer_source_wins_wherever_it_stands(better, worse):
    assert choose(better, worse) == better
    assert choose(worse, better) == better


def test_the_first_of_equals_wins():
    other = Acceptance(drafted=9, accepted=4, steps=3, source="other")
    assert choose(other, COUNTED) is other


def test_without_figures_each_source_says_why():
    text = choose(NOTHING, unavailable("page", "not there")).says()
    assert "counters: not filled; page: not there" in text
    assert choose(NOTHING) is NOTHING
    assert not choose().is_known
