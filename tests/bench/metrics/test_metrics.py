"""What holds for all metrics: names, percentiles, sums, shares, how they are shown."""

from __future__ import annotations

import pytest

from tests.bench.fakes import block, sample
from tests.bench.metrics.streams import arm
from trtspec.bench.metrics import (
    E2E,
    METRICS,
    TTFT,
    AcceptanceRate,
    ArmData,
    DraftingShare,
    OutputThroughput,
    RequestMetric,
)
from trtspec.bench.metrics.base import percentiles, share, total


def test_every_metric_says_what_it_is():
    tags = [metric.tag for metric in METRICS]
    assert len(set(tags)) == len(tags)
    for metric in METRICS:
        assert metric.header
        assert len(type(metric).__doc__ or "") > 30


def test_an_arm_holds_its_own_counted_data_only():
    blocks = [block(block=0), block(block=1), block(arm="off", block=1)]
    samples = [sample(), sample(arm="off")]
    data = ArmData.of("on", blocks, samples)
    assert [b.block for b in data.blocks] == [1]
    assert [s.arm for s in data.samples] == ["on"]


@pytest.mark.parametrize(
    "metric",
    [m for m in METRICS if not isinstance(m, RequestMetric)],
    ids=lambda m: m.tag,
)
def test_nothing_measured_is_no_value_and_no_error(metric):
    assert metric.value(arm()) is None


@pytest.mark.parametrize(
    "metric", [m for m in METRICS if isinstance(m, RequestMetric)], ids=lambda m: m.tag
)
def test_no_requests_have_no_percentiles(metric):
    found = metric.summarize(arm())
    assert (found.count, found.mean, found.p50, found.p95) == (0, None, None, None)


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


class TestPercentiles:
    def of(self, values):
        return percentiles({("p1", i): [v] for i, v in enumerate(values)})

    def test_the_median_of_an_even_count_lies_between_the_middle_two(self):
        assert self.of([4.0, 1.0, 3.0, 2.0]).p50.value == 2.5

    def test_they_interpolate_linearly_between_order_statistics(self):
        # 21 values 0..20: place 0.95 * 20 = 19
        assert self.of(map(float, range(21))).p95.value == pytest.approx(19.0)
        # 20 values 0..19: place 0.95 * 19 = 18.05
        assert self.of(map(float, range(20))).p95.value == pytest.approx(18.05)
        # 100 values 0..99: place 0.99 * 99 = 98.01
        assert self.of(map(float, range(100))).p99.value == pytest.approx(98.01)

    @pytest.mark.parametrize(("rank", "fewest"), [(50, 1), (95, 20), (99, 100)])
    def test_nothing_is_given_for_too_few_values(self, rank, fewest):
        assert self.of([1.0] * (fewest - 1)).at(rank) is None
        assert self.of([1.0] * fewest).at(rank).value == 1.0

    def test_the_mean_is_that_of_the_values_and_not_of_the_prompts(self):
        found = percentiles({("p1", 1): [1.0, 1.0, 1.0], ("p2", 1): [5.0]})
        assert (found.count, found.mean) == (4, 2.0)

    def test_values_of_all_blocks_are_taken_together(self):
        found = TTFT().summarize(arm([sample(block=b, ttft=b) for b in (1, 2, 3)]))
        assert (found.count, found.p50.value, found.p95) == (3, 2.0, None)

    def test_few_prompts_have_a_p95_and_no_interval_of_it(self):
        samples = [
            sample(block=b, prompt_id=f"p{p}", ttft=p + b / 100)
            for b in (1, 2, 3)
            for p in range(8)
        ]
        found = TTFT().summarize(arm(samples))
        assert found.p95.value == pytest.approx(7.02, abs=0.02)
        assert found.p95.interval is None


class TestTotal:
    def test_it_adds_up(self):
        assert total([1, 2.5, 0]) == 3.5

    @pytest.mark.parametrize("values", [[], [None], [1, None, 2]])
    def test_one_that_is_not_known_makes_the_sum_unknown(self, values):
        assert total(values) is None

    def test_it_takes_values_one_by_one(self):
        assert total(v for v in (0, 0)) == 0


class TestShare:
    def test_it_divides(self):
        assert share(1, 4) == 0.25
        assert share(0, 4) == 0.0

    @pytest.mark.parametrize(("part", "whole"), [(1, 0), (None, 4), (1, None)])
    def test_without_a_whole_or_a_part_there_is_none(self, part, whole):
        assert share(part, whole) is None
