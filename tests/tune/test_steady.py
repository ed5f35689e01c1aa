"""Throughput of a full batch follows from tokens per step and the cost of a step."""

from __future__ import annotations

from itertools import product
from math import inf, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tune.made import costs, trace
from trtspec.tune.predict import predict
from trtspec.tune.steady import gain, margin, point, walked

ALL_OR_NOTHING = [trace([4, 3, 2, 1, 0] * 4), trace([0] * 20, prompt_id="q")]
FLAT = costs({1: [1.0] * 9, 4: [1.0] * 9})


def test_walking_counts_steps_and_tokens_by_hand():
    """20 tokens in 4 steps of 5, and 20 in 20 of 1."""
    found = walked(ALL_OR_NOTHING, 4)
    assert found.counts.sum(axis=1).tolist() == [4, 20]
    assert found.tokens_per_step == pytest.approx(40 / 24)
    assert walked(ALL_OR_NOTHING, 0).tokens_per_step == 1


def test_a_point_by_hand():
    found = point(walked([trace([2, 1, 0, 2, 1, 0], limit=99)], 2), 4, FLAT)
    assert found.tokens == 3
    assert found.seconds == 1.0
    assert found.throughput == 12
    assert found.tpot == pytest.approx(1 / 3)


def test_drafting_is_paid_for():
    dear = costs({1: [1.0] * 9}, draft=0.5)
    found = point(walked([trace([2, 1, 0], limit=99)], 2), 1, dear)
    assert found.seconds == 2.0
    assert point(walked([trace([2, 1, 0])], 0), 1, dear).seconds == 1.0


def test_a_batch_takes_as_long_as_its_longest_draft():
    """Half of the steps draft nothing; enumerated over all batches of 3."""
    traces = [trace([0] * 8, offered=[0, 4] * 4, limit=99)]
    found = point(walked(traces, 4), 3, costs({3: [1.0, 2.0, 3.0, 4.0, 5.0]}))
    batches = list(product([1.0, 5.0], repeat=3))
    assert found.seconds == pytest.approx(sum(map(max, batches)) / len(batches))


@given(
    st.lists(st.integers(0, 4), min_size=3, max_size=30),
    st.lists(st.integers(0, 4), min_size=3, max_size=30),
    st.integers(1, 4),
    st.lists(st.floats(0.1, 1.0), min_size=5, max_size=5),
)
def test_at_batch_1_it_is_the_replayed_workload(first, second, length, row):
    traces = [
        trace(a, offered=[max(x, 1) for x in a], limit=99, prompt_id=str(n))
        for n, a in enumerate((first, second))
    ]
    table = costs({1: sorted(row)})
    found = point(walked(traces, length), 1, table)
    real = predict(traces, table, 1, lambda _: length)
    steps = walked(traces, length).counts.sum()
    assert found.seconds * steps == pytest.approx(real.seconds)
    assert found.throughput == pytest.approx((real.tokens - 2) / real.seconds)


def test_shares_of_prompts_sum_to_their_steps():
    found = point(walked(ALL_OR_NOTHING, 4), 1, FLAT)
    assert found.times == pytest.approx([4 / 24, 20 / 24])


def test_an_interval_covers_what_other_prompts_of_the_kind_give():
    """Prompts are drawn 400 times: the interval holds the truth in about 95 %."""
    random = np.random.default_rng(7)

    def draw(count):
        shares = random.beta(2, 2, size=count)
        return [
            trace(random.binomial(1, p, size=40).tolist(), offered=1, prompt_id=str(n))
            for n, p in enumerate(shares)
        ]

    def compared(traces):
        plain, one = (point(walked(traces, k), 1, FLAT) for k in (0, 1))
        return gain(one, plain)

    truth = compared(draw(4000)).ratio
    held = [
        found.low <= truth <= found.high
        for found in (compared(draw(24)) for _ in range(400))
    ]
    assert 0.90 <= np.mean(held) <= 0.99


def test_noise_of_the_costs_widens_it():
    quiet, loud = (
        margin(*(point(walked(ALL_OR_NOTHING, k), 1, c) for k in (4, 0)))
        for c in (FLAT, costs({1: [1.0] * 9}, error=0.2))
    )
    assert loud > quiet > 0


def test_one_prompt_says_nothing_of_others():
    one, plain = (point(walked([ALL_OR_NOTHING[0]], k), 1, FLAT) for k in (4, 0))
    assert margin(one, plain) == inf
    assert gain(one, plain).word == "no claim"


def test_nothing_is_between_a_point_and_itself():
    one = point(walked(ALL_OR_NOTHING, 4), 1, FLAT)
    assert margin(one, one) == 0
    assert gain(one, one).word == "no claim"


@pytest.mark.parametrize(
    ("accepted", "word"), [([4, 3, 2, 1, 0] * 4, "faster"), ([0] * 20, "slower")]
)
def test_words(accepted, word):
    traces = [trace(accepted, prompt_id=str(n)) for n in range(6)]
    rising = costs({1: [1.0, 1.1, 1.2, 1.3, 1.4]})
    one, plain = (point(walked(traces, k), 1, rising) for k in (4, 0))
    found = gain(one, plain)
    assert found.word == word
    assert log(found.high) - log(found.ratio) == pytest.approx(
        log(found.ratio) - log(found.low)
    )
