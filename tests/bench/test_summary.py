"""Cells follow from raw records, whatever their order."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.bench.fakes import FakeRunner, plan, run
from trtspec.bench.result import BenchResult
from trtspec.bench.summary import summarize


def noisy(seed: int, **changes) -> BenchResult:
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


def again(result: BenchResult, blocks, samples):
    return summarize(
        result.settings.concurrency, blocks, samples, {}, greedy=result.settings.greedy
    )


def test_samples_are_paired_by_prompt_and_block_not_by_order():
    result = noisy(1)
    shuffled = list(result.samples)
    np.random.default_rng(2).shuffle(shuffled)
    (cell,) = again(result, result.blocks, shuffled)
    (expected,) = result.cells
    assert cell.verdict == expected.verdict
    assert cell.on is not None
    assert expected.on is not None
    for tag, values in expected.on.percentiles.items():
        assert cell.on.percentiles[tag].p50 == pytest.approx(values.p50)
    for tag, ratio in expected.ratios.items():
        changed = cell.ratios[tag]
        assert ratio is not None
        assert changed is not None
        assert changed.estimate == pytest.approx(ratio.estimate)


def test_a_cell_sees_its_own_concurrency_only():
    both = noisy(3, concurrency=(1, 4))
    for cell in both.cells:
        c = cell.concurrency
        blocks = [b for b in both.blocks if b.concurrency == c]
        samples = [s for s in both.samples if s.concurrency == c]
        (alone,) = summarize((c,), blocks, samples, {}, greedy=True)
        assert alone == cell


def test_the_warm_up_enters_no_number():
    result = noisy(4)
    blocks = [b for b in result.blocks if not b.warm_up]
    assert again(result, blocks, result.samples) == result.cells


@settings(deadline=None, max_examples=6)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1, 2, 5]))
def test_what_holds_for_every_measurement(seed, concurrency):
    result = noisy(seed, concurrency=(concurrency,))
    (cell,) = result.cells
    assert cell.off is not None
    assert cell.on is not None
    for arm in (cell.off, cell.on):
        assert 0 < arm.in_flight <= concurrency + 1e-9
        throughput = arm.values["output_throughput"]
        assert throughput is not None
        assert throughput > 0
        length = arm.values["acceptance_length"]
        assert length is None or length >= 1
        for summary in arm.percentiles.values():
            if summary.p50 is not None and summary.p95 is not None:
                assert summary.p50 <= summary.p95
    rate = cell.on.values["acceptance_rate"]
    assert rate is None or 0 <= rate <= 1
    assert cell.off.values["acceptance_rate"] is None
    assert cell.outputs is not None
    assert cell.outputs.identical == 9
    assert result.recomputed() == result.cells
