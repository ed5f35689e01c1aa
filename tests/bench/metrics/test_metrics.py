"""Every metric against values computed by hand."""

from __future__ import annotations

import pytest

from tests.bench.fakes import FakeRunner, block, plan, run, sample
from trtspec.bench.metrics import (
    E2E,
    METRICS,
    TPOT,
    TTFT,
    AcceptanceLength,
    AcceptanceRate,
    ArmData,
    DraftingShare,
    OutputThroughput,
    VerificationShare,
)
from trtspec.bench.metrics.base import percentile
from trtspec.bench.records import StepTimes


def arm(samples=(), blocks=()) -> ArmData:
    return ArmData("on", tuple(blocks), tuple(samples))


class TestPercentile:
    def test_the_median_of_an_even_count_lies_between_the_middle_two(self):
        assert percentile([4.0, 1.0, 3.0, 2.0], 50) == 2.5

    def test_it_interpolates_linearly_between_order_statistics(self):
        # 21 values 0..20: rank 0.95 * 20 = 19
        assert percentile([float(v) for v in range(21)], 95) == pytest.approx(19.0)
        # 20 values 0..19: rank 0.95 * 19 = 18.05
        assert percentile([float(v) for v in range(20)], 95) == pytest.approx(18.05)
        # 100 values 0..99: rank 0.99 * 99 = 98.01
        assert percentile([float(v) for v in range(100)], 99) == pytest.approx(98.01)

    @pytest.mark.parametrize(("rank", "fewest"), [(50, 1), (95, 20), (99, 100)])
    def test_nothing_is_given_for_too_few_samples(self, rank, fewest):
        assert percentile([1.0] * (fewest - 1), rank) is None
        assert percentile([1.0] * fewest, rank) == 1.0


class TestLatencies:
    def test_ttft_is_the_time_to_the_first_token(self):
        assert TTFT().of(sample(ttft=0.25)) == 0.25

    def test_e2e_is_the_time_to_the_last_token(self):
        assert E2E().of(sample(e2e=7.5)) == 7.5

    def test_tpot_of_a_single_token_does_not_exist(self):
        data = arm([sample(tpot=None, output_tokens=1), sample(tpot=0.5)])
        summary = TPOT().summarize(data)
        assert (summary.count, summary.p50) == (1, 0.5)

    def test_tpot_counts_tokens_and_not_chunks(self):
        # 5 tokens in 3 chunks, 1.25 s apart: (0.5 + 2.5 - 0.5) / 4, not 1.25
        result = run(FakeRunner(), plan(1))
        on = [s.tpot for s in result.samples if s.arm == "on"]
        assert on == pytest.approx([0.625] * 3)

    def test_samples_of_all_blocks_are_taken_together(self):
        data = arm([sample(block=b, ttft=float(b)) for b in (1, 2, 3)])
        summary = TTFT().summarize(data)
        assert (summary.count, summary.p50, summary.p95) == (3, 2.0, None)


class TestOutputThroughput:
    def test_it_is_tokens_per_wall_second_and_the_median_over_blocks(self):
        blocks = [
            block(block=1, output_tokens=100, wall_seconds=10.0),
            block(block=2, output_tokens=100, wall_seconds=4.0),
            block(block=3, output_tokens=100, wall_seconds=5.0),
        ]
        assert OutputThroughput().value(arm(blocks=blocks)) == 20.0

    def test_without_blocks_there_is_none(self):
        assert OutputThroughput().value(arm()) is None


class TestAcceptance:
    def test_the_rate_divides_sums_and_does_not_average_rates(self):
        samples = [
            sample(drafted=30, accepted=3, steps=10),
            sample(drafted=2, accepted=2, steps=1),
        ]
        assert AcceptanceRate().value(arm(samples)) == 5 / 32
        assert AcceptanceLength().value(arm(samples)) == 1 + 5 / 11

    def test_the_denominator_is_what_was_really_drafted(self):
        # ten steps, but the drafter found something to propose only in two of them
        samples = [sample(drafted=6, accepted=3, steps=10)]
        assert AcceptanceRate().value(arm(samples)) == 0.5

    def test_nothing_drafted_has_no_rate_and_length_one(self):
        samples = [sample(drafted=0, accepted=0, steps=4)]
        assert AcceptanceRate().value(arm(samples)) is None
        assert AcceptanceLength().value(arm(samples)) == 1.0

    def test_without_steps_there_is_no_length(self):
        assert AcceptanceLength().value(arm([sample(steps=0)])) is None


class TestShares:
    blocks = (
        block(
            block=1,
            decode=StepTimes(
                steps=2, seconds=4.0, draft_seconds=1.0, forward_seconds=2.5
            ),
            prefill=StepTimes(
                steps=1, seconds=100.0, draft_seconds=50.0, forward_seconds=50.0
            ),
        ),
        block(
            block=2,
            decode=StepTimes(
                steps=2, seconds=6.0, draft_seconds=1.0, forward_seconds=4.5
            ),
        ),
    )

    def test_drafting_is_a_share_of_decode_time_only(self):
        assert DraftingShare().value(arm(blocks=self.blocks)) == 0.2

    def test_verification_is_the_target_forward_in_decode_steps(self):
        assert VerificationShare().value(arm(blocks=self.blocks)) == 0.7

    @pytest.mark.parametrize("metric", [DraftingShare(), VerificationShare()])
    def test_without_decode_steps_there_is_none(self, metric):
        assert metric.value(arm(blocks=[block()])) is None


def test_an_arm_holds_its_own_counted_data_only():
    blocks = [block(block=0), block(block=1), block(arm="off", block=1)]
    samples = [sample(), sample(arm="off")]
    data = ArmData.of("on", blocks, samples)
    assert [b.block for b in data.blocks] == [1]
    assert [s.arm for s in data.samples] == ["on"]


def test_every_metric_says_what_it_is():
    tags = [metric.tag for metric in METRICS]
    assert len(set(tags)) == len(tags) == 8
    for metric in METRICS:
        assert metric.header
        assert len(type(metric).__doc__ or "") > 30


@pytest.mark.parametrize(
    ("metric", "value", "shown"),
    [
        (TTFT(), 0.0123, "12.3"),
        (E2E(), 1.234, "1.23"),
        (OutputThroughput(), 41.26, "41.3"),
        (OutputThroughput(), 1041.26, "1041"),
        (AcceptanceRate(), 0.4321, "0.432"),
        (DraftingShare(), 0.0123, "1.2"),
        (TTFT(), None, "-"),
    ],
)
def test_values_are_shown_in_the_unit_of_the_table(metric, value, shown):
    assert metric.show(value) == shown
