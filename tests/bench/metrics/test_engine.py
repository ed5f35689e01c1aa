"""Acceptance, shares of a step, and the machine: what an engine tells, or does not."""

from __future__ import annotations

import pytest

from tests.bench.fakes import block, sample
from tests.bench.metrics.streams import arm
from trtspec.bench.metrics import (
    AcceptanceLength,
    AcceptanceRate,
    CpuPerToken,
    DraftingShare,
    EnergyPerToken,
    GpuMemory,
    Memory,
    TokensPerStep,
    VerificationShare,
)
from trtspec.bench.records import Resources, StepTimes

UNTOLD = {"steps": None, "drafted": None, "accepted": None}


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

    @pytest.mark.parametrize("metric", [AcceptanceRate(), AcceptanceLength()])
    def test_one_request_that_does_not_tell_makes_it_unknown(self, metric):
        told = sample(drafted=6, accepted=3, steps=10)
        assert metric.value(arm([told])) is not None
        assert metric.value(arm([told, sample(**UNTOLD)])) is None


class TestShares:
    blocks = (
        block(
            block=1,
            decode=StepTimes(
                steps=2, seconds=4.0, draft_seconds=1.0, forward_seconds=2.5, emitted=7
            ),
            prefill=StepTimes(
                steps=1, seconds=100.0, draft_seconds=50.0, forward_seconds=50.0
            ),
        ),
        block(
            block=2,
            decode=StepTimes(
                steps=2, seconds=6.0, draft_seconds=1.0, forward_seconds=4.5, emitted=3
            ),
        ),
    )

    def test_drafting_is_a_share_of_decode_time_only(self):
        assert DraftingShare().value(arm(blocks=self.blocks)) == 0.2

    def test_verification_is_the_target_forward_in_decode_steps(self):
        assert VerificationShare().value(arm(blocks=self.blocks)) == 0.7

    def test_tokens_per_step_counts_engine_steps(self):
        assert TokensPerStep().value(arm(blocks=self.blocks)) == 2.5

    @pytest.mark.parametrize(
        "metric", [DraftingShare(), VerificationShare(), TokensPerStep()]
    )
    def test_without_decode_steps_there_is_none(self, metric):
        assert metric.value(arm(blocks=[block()])) is None

    @pytest.mark.parametrize(
        "metric", [DraftingShare(), VerificationShare(), TokensPerStep()]
    )
    def test_one_block_that_does_not_tell_makes_it_unknown(self, metric):
        silent = block(block=3, decode=None, prefill=None)
        assert metric.value(arm(blocks=[*self.blocks, silent])) is None


def used(number=1, **what):
    return block(block=number, output_tokens=50, resources=Resources(**what))


class TestMachine:
    def test_cpu_time_is_divided_by_the_tokens_of_all_blocks(self):
        blocks = [used(1, cpu_seconds=2.0), used(2, cpu_seconds=3.0)]
        assert CpuPerToken().value(arm(blocks=blocks)) == 0.05
        assert CpuPerToken().show(0.05) == "50.00"

    def test_one_block_without_a_reading_makes_the_sum_unknown(self):
        blocks = [used(1, cpu_seconds=2.0), used(2)]
        assert CpuPerToken().value(arm(blocks=blocks)) is None

    def test_memory_is_the_most_that_was_seen(self):
        blocks = [used(1, memory_bytes=3 << 20), used(2, memory_bytes=5 << 20), used(3)]
        assert Memory().value(arm(blocks=blocks)) == 5 << 20
        assert Memory().show(5 << 20) == "5"

    def test_memory_of_several_gpus_is_added_up(self):
        blocks = [used(1, gpu_memory_bytes=(3, 4)), used(2, gpu_memory_bytes=(5, 1))]
        assert GpuMemory().value(arm(blocks=blocks)) == 7

    def test_energy_is_that_of_all_gpus_per_token(self):
        blocks = [
            used(1, gpu_energy_joules=(30.0, 10.0)),
            used(2, gpu_energy_joules=(60.0, 0.0)),
        ]
        assert EnergyPerToken().value(arm(blocks=blocks)) == 1.0

    @pytest.mark.parametrize("metric", [Memory(), GpuMemory(), EnergyPerToken()])
    def test_without_a_reading_there_is_none(self, metric):
        assert metric.value(arm(blocks=[used()])) is None

    def test_energy_of_some_blocks_only_is_not_that_of_all(self):
        blocks = [used(1, gpu_energy_joules=(30.0,)), used(2)]
        assert EnergyPerToken().value(arm(blocks=blocks)) is None
