"""Interleaving, warm-up, and what both arms have in common."""

from __future__ import annotations

import pytest

from tests.bench.fakes import FakeRunner, prompts
from trtspec.bench.pairs import CellPlan, block_order, run_cell
from trtspec.bench.progress import Silent
from trtspec.errors import RunError
from trtspec.run import SamplingParams


def cell(runner: FakeRunner, *, concurrency=2, repeats=3, count=4, cached=False):
    plan = CellPlan(
        prompts(count), concurrency, repeats, 5, SamplingParams(0.7, seed=11), cached
    )
    return run_cell(runner, plan, Silent(), clock=runner.clock)


def test_the_order_flips_from_pair_to_pair():
    assert list(block_order(4)) == [
        ("off", 0),
        ("on", 0),
        ("off", 1),
        ("on", 1),
        ("on", 2),
        ("off", 2),
        ("off", 3),
        ("on", 3),
        ("on", 4),
        ("off", 4),
    ]


@pytest.mark.parametrize("repeats", [1, 2, 3, 6])
def test_each_block_number_has_both_arms_next_to_each_other(repeats):
    order = list(block_order(repeats))
    assert len(order) == 2 * (repeats + 1)
    for first, second in zip(order[::2], order[1::2], strict=True):
        assert first[1] == second[1]
        assert {first[0], second[0]} == {"off", "on"}


def test_blocks_are_recorded_in_the_order_they_ran():
    blocks, _ = cell(FakeRunner())
    assert [(b.arm, b.block) for b in blocks] == list(block_order(3))
    assert [b.order for b in blocks] == list(range(8))


def test_the_warm_up_is_recorded_but_has_no_samples():
    blocks, samples = cell(FakeRunner())
    warm_up = [b for b in blocks if b.warm_up]
    assert [b.arm for b in warm_up] == ["off", "on"]
    assert all(b.requests == 4 for b in warm_up)
    assert {s.block for s in samples} == {1, 2, 3}
    assert len(samples) == 2 * 3 * 4


def ttft_sums(samples):
    sums = {"off": 0.0, "on": 0.0}
    for sample in samples:
        sums[sample.arm] += sample.ttft
    return sums


def test_no_arm_pays_for_prompts_that_the_other_finds_in_the_cache():
    _, samples = cell(
        FakeRunner(caches_prompts=True), count=8, concurrency=1, cached=True
    )
    sums = ttft_sums(samples)
    assert sums["off"] == pytest.approx(sums["on"])
    # the negative control: a partial warm-up leaves the first arm with cold prompts
    _, samples = cell(FakeRunner(caches_prompts=True), count=8, concurrency=1)
    sums = ttft_sums(samples)
    assert sums["off"] > 1.5 * sums["on"]


def test_a_slow_warm_up_changes_no_sample():
    def cold(request):
        return 50.0 if request.id.endswith(("/off0", "/on0")) else 1.0

    _, usual = cell(FakeRunner(), concurrency=1)
    blocks, samples = cell(FakeRunner(factor=cold), concurrency=1)
    assert [s.e2e for s in samples] == pytest.approx([s.e2e for s in usual])
    assert blocks[0].requests == blocks[2].requests / 2
    assert blocks[0].wall_seconds == pytest.approx(25 * blocks[2].wall_seconds)


def test_both_arms_and_all_blocks_get_the_same_requests():
    runner = FakeRunner()
    cell(runner)
    blocks = [runner.submitted[i : i + 4] for i in range(0, 32, 4)]
    for requests in blocks:
        assert [r.prompt for r in requests] == [p.tokens for p in prompts(4)]
        assert [r.sampling.seed for r in requests] == [11, 12, 13, 14]
        assert {r.max_new_tokens for r in requests} == {5}
        assert not any(r.ignore_eos for r in requests)
    assert [r[0].speculate for r in blocks] == [
        arm == "on" for arm, _ in block_order(3)
    ]


def test_request_ids_are_unique():
    runner = FakeRunner()
    cell(runner)
    ids = [r.id for r in runner.submitted]
    assert len(set(ids)) == len(ids)


def test_token_ids_are_kept_for_the_first_counted_block_of_each_arm():
    _, samples = cell(FakeRunner())
    assert {s.block for s in samples if s.tokens is not None} == {1}
    for s in samples:
        assert s.tokens is None or len(s.tokens) == s.output_tokens
        assert len(s.tokens_sha256) == 64


def test_sample_times_are_measured_from_the_block_start():
    _, samples = cell(FakeRunner(), concurrency=1)
    first_off = [s for s in samples if s.arm == "off" and s.block == 1]
    assert [s.submitted for s in first_off] == [0.0, 4.5, 9.0, 13.5]
    assert [s.ttft for s in first_off] == [0.5] * 4
    assert [s.tpot for s in first_off] == [1.0] * 4
    assert [s.e2e for s in first_off] == [4.5] * 4


def test_step_times_are_summed_by_kind():
    blocks, _ = cell(FakeRunner(), concurrency=1)
    on = next(b for b in blocks if b.arm == "on" and b.block == 1)
    # 4 prompts: a prefill of 0.5 s and two steps of 1.25 s each
    assert (on.prefill.steps, on.prefill.seconds) == (4, 2.0)
    assert (on.decode.steps, on.decode.seconds) == (8, 10.0)
    assert on.decode.draft_seconds == pytest.approx(1.0)
    assert on.decode.draft_forward_seconds == pytest.approx(0.5)
    assert on.decode.forward_seconds == pytest.approx(8.0)
    assert (on.decode.drafted, on.decode.accepted, on.decode.emitted) == (24, 8, 16)
    assert on.wall_seconds == 12.0
    assert on.output_tokens == 20


def test_a_failure_in_any_block_fails_the_cell():
    runner = FakeRunner()
    runner.before_advance = lambda r: r.cancel("p3/c2/on2")
    with pytest.raises(RunError, match="request p3/c2/on2"):
        cell(runner)
