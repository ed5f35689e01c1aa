"""Tokens and requests per second, and those that keep their limits."""

from __future__ import annotations

import pytest

from tests.bench.fakes import block, sample
from tests.bench.metrics.streams import arm, stream
from trtspec.bench.metrics import (
    Goodput,
    OutputThroughput,
    RequestThroughput,
    TotalThroughput,
)

BLOCKS = (
    block(block=1, output_tokens=100, prompt_tokens=20, requests=2, wall_seconds=10.0),
    block(block=2, output_tokens=100, prompt_tokens=20, requests=2, wall_seconds=4.0),
    block(block=3, output_tokens=100, prompt_tokens=20, requests=2, wall_seconds=5.0),
)


class TestThroughputs:
    def test_output_is_tokens_per_wall_second_and_the_median_over_blocks(self):
        assert OutputThroughput().value(arm(blocks=BLOCKS)) == 20.0

    def test_total_adds_the_prompts(self):
        assert TotalThroughput().value(arm(blocks=BLOCKS)) == 24.0

    def test_requests_are_counted(self):
        assert RequestThroughput().value(arm(blocks=BLOCKS)) == 0.4

    def test_one_block_that_does_not_tell_its_prompt_tokens_makes_the_total_unknown(
        self,
    ):
        blocks = (*BLOCKS, block(block=4))
        assert TotalThroughput().value(arm(blocks=blocks)) is None
        assert OutputThroughput().value(arm(blocks=blocks)) is not None

    def test_of_two_blocks_the_median_lies_between(self):
        assert OutputThroughput().value(arm(blocks=BLOCKS[:2])) == 17.5


class TestGoodput:
    def value(self, samples, blocks=None, **limits):
        blocks = blocks or [block(wall_seconds=2.0)]
        return Goodput().value(arm(samples, blocks, **limits))

    def test_only_requests_that_keep_every_limit_count(self):
        samples = [
            sample(ttft=0.2, tpot=0.01, e2e=1.0),
            sample(ttft=0.3, tpot=0.01, e2e=1.0),
            sample(ttft=0.2, tpot=0.02, e2e=1.0),
            sample(ttft=0.2, tpot=0.01, e2e=3.0),
        ]
        assert self.value(samples, ttft=0.25, tpot=0.015, e2e=2.0) == 0.5
        assert self.value(samples, ttft=0.25) == 1.5
        assert self.value(samples, e2e=9.0) == 2.0

    def test_a_value_at_its_limit_keeps_it(self):
        assert self.value([sample(ttft=0.25)], ttft=0.25) == 0.5

    def test_it_is_the_median_over_blocks(self):
        blocks = [
            block(block=b, wall_seconds=w) for b, w in ((1, 1.0), (2, 2.0), (3, 8.0))
        ]
        samples = [sample(block=b, ttft=0.1) for b in (1, 2, 3)]
        assert self.value(samples, blocks, ttft=1.0) == 0.5

    def test_a_block_without_a_good_request_counts_as_zero(self):
        blocks = [block(block=b, wall_seconds=1.0) for b in (1, 2, 3)]
        samples = [sample(block=b, ttft=t) for b, t in ((1, 0.1), (2, 9.0), (3, 9.0))]
        assert self.value(samples, blocks, ttft=1.0) == 0.0

    def test_without_limits_there_is_none(self):
        assert self.value([sample()]) is None

    def test_a_single_token_keeps_any_tpot(self):
        assert self.value([stream("100:1")], tpot=0.001) == 0.5

    def test_tokens_in_one_chunk_tell_no_tpot_so_nothing_is_known(self):
        assert self.value([stream("100:8"), stream("100:1 110:1")], tpot=9.0) is None

    def test_but_a_limit_that_is_missed_anyway_is_known(self):
        assert self.value([stream("100:8")], tpot=9.0, ttft=0.05) == 0.0


@pytest.mark.parametrize(
    "metric", [OutputThroughput(), TotalThroughput(), RequestThroughput(), Goodput()]
)
def test_the_warm_up_is_not_in_an_arm(metric):
    assert metric.value(arm(blocks=())) is None
