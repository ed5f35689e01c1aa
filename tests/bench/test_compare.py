"""From samples to ratios: pairing, and which percentiles have one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats.mstats import hdmedian

from tests.bench.fakes import block, sample
from trtspec.bench import compare
from trtspec.bench.compare import FEWEST_FOR_INTERVAL, Statistics, ratios_between
from trtspec.bench.metrics import ArmData


def arm(name, prompts=24, blocks=3, *, speed=1.0, seed=1, **changes):
    """Requests one after the other; ``speed`` times as fast as they would be."""
    random = np.random.default_rng(seed)
    lengths = np.random.default_rng(9).uniform(1, 3, prompts)
    made, held = [], []
    for number in range(1, blocks + 1):
        at = 0.0
        for p in range(prompts):
            seconds = lengths[p] * random.uniform(0.97, 1.03) / speed
            made.append(
                sample(
                    arm=name,
                    block=number,
                    prompt_id=f"p{p}",
                    submitted=at,
                    ttft=seconds / 5,
                    tpot=seconds / 10,
                    e2e=seconds,
                    **changes,
                )
            )
            at += seconds
        held.append(
            block(
                arm=name,
                block=number,
                wall_seconds=at,
                requests=prompts,
                output_tokens=5 * prompts,
            )
        )
    return ArmData(name, tuple(held), tuple(made))


def between(on, off):
    return ratios_between(Statistics(on), Statistics(off))


def test_throughput_and_latencies_show_the_same_speed():
    ratios = between(arm("on", speed=1.5, seed=2), arm("off"))
    assert ratios["output_throughput"].estimate == pytest.approx(1.5, rel=0.02)
    for key in ("ttft.p50", "tpot.p50", "e2e.p50", "e2e.p95"):
        assert ratios[key].estimate == pytest.approx(1 / 1.5, rel=0.03)


def test_throughput_is_that_of_the_blocks():
    on, off = arm("on", speed=1.5, seed=2), arm("off")
    rates = [
        np.log([b.output_tokens / b.wall_seconds for b in data.blocks])
        for data in (on, off)
    ]
    expected = np.exp((rates[0] - rates[1]).mean())
    assert between(on, off)["output_throughput"].estimate == pytest.approx(expected)


def test_samples_are_paired_by_prompt_and_block_and_not_by_order():
    on, off = arm("on", speed=1.5, seed=2), arm("off")
    shuffled = list(on.samples)
    np.random.default_rng(3).shuffle(shuffled)
    again = ArmData("on", on.blocks, tuple(shuffled))
    assert between(again, off) == between(on, off)


@pytest.mark.parametrize(
    ("prompts", "given", "bounded"),
    [
        (8, {50}, {50}),
        (20, {50, 95}, {50}),
        (72, {50, 95}, {50, 95}),
        (100, {50, 95, 99}, {50, 95}),
    ],
)
def test_a_percentile_has_a_ratio_and_an_interval_from_so_many_prompts(
    prompts, given, bounded
):
    ratios = between(arm("on", prompts, seed=2), arm("off", prompts))
    found = {rank: ratios[f"e2e.p{rank}"] for rank in (50, 95, 99)}
    assert {rank for rank, ratio in found.items() if ratio} == given
    assert {
        rank for rank, ratio in found.items() if ratio and ratio.interval
    } == bounded


def test_the_fewest_prompts_for_an_interval():
    assert FEWEST_FOR_INTERVAL == {50: 6, 95: 72, 99: 368}


def test_a_prompt_without_a_value_is_left_out_in_both_arms():
    on, off = arm("on", 9, seed=2), arm("off", 9)
    without = tuple(
        s.model_copy(update={"tpot": None, "output_tokens": 1})
        if s.prompt_id == "p3" and s.block == 2
        else s
        for s in on.samples
    )
    ratios = between(ArmData("on", on.blocks, without), off)

    def kept(sample):
        return sample.prompt_id != "p3"

    rows = [
        [
            float(hdmedian([s.tpot for s in data.samples if s.block == b and kept(s)]))
            for b in (1, 2, 3)
        ]
        for data in (on, off)
    ]
    expected = np.exp(np.log(np.divide(*rows)).mean())
    assert ratios["tpot.p50"].estimate == pytest.approx(expected)
    assert ratios["e2e.p50"] == between(on, off)["e2e.p50"]


def test_a_metric_that_no_request_has_has_no_ratio():
    on, off = arm("on", 9), arm("off", 9)
    silent = tuple(s.model_copy(update={"tpot": None}) for s in on.samples)
    assert between(ArmData("on", on.blocks, silent), off)["tpot.p50"] is None


def test_the_baseline_is_worked_through_once(monkeypatch):
    worked = []
    plain = compare.quantiles_of
    monkeypatch.setattr(
        compare, "quantiles_of", lambda *given: worked.append(1) or plain(*given)
    )
    off = Statistics(arm("off"))
    ratios_between(Statistics(arm("on", seed=2)), off)
    first = len(worked)
    ratios_between(Statistics(arm("other", seed=3)), off)
    assert (first, len(worked) - first) == (6, 3)
