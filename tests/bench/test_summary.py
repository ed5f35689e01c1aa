"""Cells follow from raw records, whatever their order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bench.fakes import FakeRunner, plan, run
from trtspec.bench.rundir import BenchRun
from trtspec.bench.summary import Raw, summarize


def noisy(seed: int, **changes) -> BenchRun:
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 9, 9)
    return run(
        FakeRunner(
            factor=lambda request: float(random.uniform(0.7, 1.4)),
            output_of=lambda r: list(range(lengths[len(r.prompt) - 1])),
            accepts=int(random.integers(0, 4)),
        ),
        plan(9, output_tokens=8, **changes),
    )


def test_samples_are_paired_by_prompt_and_block_not_by_order():
    done = noisy(1)
    shuffled = list(done.raw.samples)
    np.random.default_rng(2).shuffle(shuffled)
    (cell,) = summarize(done.result.plan, Raw(done.raw.blocks, shuffled))
    (expected,) = done.result.cells
    on, wanted = cell.comparisons["on"], expected.comparisons["on"]
    assert on.verdict == wanted.verdict
    for tag, ratio in wanted.ratios.items():
        changed = on.ratios[tag]
        assert (changed is None) == (ratio is None)
        if ratio and changed:
            assert changed.estimate == pytest.approx(ratio.estimate)


def test_a_cell_sees_its_own_load_only():
    both = noisy(3, concurrency=(1, 4))
    for cell in both.result.cells:
        settings = both.result.plan.settings.model_copy(update={"loads": (cell.load,)})
        alone = both.result.plan.model_copy(update={"settings": settings})
        assert summarize(alone, both.raw.under(cell.load)) == (cell,)


def test_the_warm_up_enters_no_number():
    done = noisy(4)
    blocks = [b for b in done.raw.blocks if not b.warm_up]
    assert summarize(done.result.plan, Raw(blocks, done.raw.samples)) == (
        done.result.cells
    )


def test_several_candidates_are_each_compared_with_off():
    of = plan(8)
    third = of.arms[1].model_copy(update={"name": "other"})
    done = run(FakeRunner(), of.model_copy(update={"arms": (*of.arms, third)}))
    (cell,) = done.result.cells
    assert list(cell.arms) == ["off", "on", "other"]
    assert list(cell.comparisons) == ["on", "other"]
    assert cell.comparisons["on"].ratios == cell.comparisons["other"].ratios


def test_without_a_baseline_there_are_numbers_and_no_comparison():
    of = plan(8)
    done = run(FakeRunner(), of.model_copy(update={"arms": of.arms[1:]}))
    (cell,) = done.result.cells
    assert list(cell.arms) == ["on"]
    assert cell.comparisons == {}
    assert done.result.break_even == {}


def test_a_ladder_has_a_break_even():
    """Each further request in flight makes a step of on slower, of off not."""

    class Loaded(FakeRunner):
        def _decode(self):
            self.on_step = 0.8 + 0.4 * len(self.running)
            return super()._decode()

    done = run(Loaded(prefill_seconds=0.01), plan(8, concurrency=(1, 2, 4, 8)))
    found = done.result.break_even["on"]
    assert found.kind == "crossing"
    assert found.concurrency is not None
    assert 2 < found.concurrency < 4


@settings(deadline=None, max_examples=6)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 5]))
def test_what_holds_for_every_measurement(seed, concurrency):
    (cell,) = noisy(seed, concurrency=(concurrency,)).result.cells
    for arm in cell.arms.values():
        assert 0 < arm.in_flight <= concurrency + 1e-9
        throughput = arm.values["output_throughput"]
        assert throughput is not None
        assert throughput > 0
        length = arm.values["acceptance_length"]
        assert length is None or length >= 1
        for found in arm.percentiles.values():
            values = [q.value for q in (found.p50, found.p95, found.p99) if q]
            assert values == sorted(values)
            for q in (found.p50, found.p95, found.p99):
                if q and q.interval:
                    assert q.interval[0] <= q.value <= q.interval[1]
    for ratio in cell.comparisons["on"].ratios.values():
        if ratio and ratio.interval:
            assert ratio.interval[0] <= ratio.estimate <= ratio.interval[1]
