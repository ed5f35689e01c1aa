"""The four verdicts, at their borders and on simulated measurements."""

from __future__ import annotations

import numpy as np
import pytest

from trtspec.bench.ratio import Ratio, paired_ratio, rate_of
from trtspec.bench.verdict import judge


def ratio(low: float, high: float) -> Ratio:
    return Ratio(
        estimate=(low * high) ** 0.5,
        interval=(low, high),
        prompts_interval=(low, high),
        blocks_interval=(low, high),
    )


def word(throughput, e2e=None, *, blocks=3, prompts=8, drafted=1) -> str:
    return judge(throughput, e2e, blocks=blocks, prompts=prompts, drafted=drafted).word


@pytest.mark.parametrize(
    ("interval", "expected"),
    [
        ((1.2, 1.4), "faster"),
        ((1.001, 1.05), "faster"),
        ((0.7, 0.9), "slower"),
        ((0.98, 1.02), "no difference"),
        ((1.005, 1.02), "no difference"),
        ((0.97, 1.03), "no difference"),
        ((0.96, 1.02), "no claim"),
        ((0.99, 1.31), "no claim"),
        ((1.0, 1.2), "no claim"),
    ],
)
def test_the_interval_decides(interval, expected):
    assert word(ratio(*interval)) == expected


@pytest.mark.parametrize(
    "few", [{"blocks": 2}, {"prompts": 7}, {"blocks": 1, "prompts": 1}]
)
def test_too_little_data_carries_no_claim(few):
    verdict = judge(
        ratio(1.5, 1.6), None, **{"blocks": 3, "prompts": 8, "drafted": 1} | few
    )
    assert verdict.word == "no claim"
    assert "needs 3 blocks and 8 prompts" in verdict.reason


def test_too_little_data_carries_no_equality_either():
    assert word(ratio(0.99, 1.01), blocks=2) == "no claim"


def test_without_a_ratio_or_interval_there_is_no_claim():
    bare = Ratio(
        estimate=2.0, interval=None, prompts_interval=None, blocks_interval=None
    )
    assert word(None) == "no claim"
    assert word(bare) == "no claim"


def test_latency_on_the_other_side_vetoes():
    assert word(ratio(1.2, 1.4), ratio(1.05, 1.2)) == "no claim"
    assert word(ratio(0.7, 0.8), ratio(0.8, 0.9)) == "no claim"


def test_latency_that_agrees_or_is_open_does_not_veto():
    assert word(ratio(1.2, 1.4), ratio(0.7, 0.8)) == "faster"
    assert word(ratio(1.2, 1.4), ratio(0.9, 1.1)) == "faster"


def test_a_gain_with_nothing_drafted_is_not_claimed():
    assert word(ratio(1.2, 1.4), drafted=0) == "no claim"
    assert word(ratio(0.7, 0.8), drafted=0) == "slower"


def test_every_no_claim_has_a_reason():
    for interval in ((0.9, 1.2), (1.0, 1.0001)):
        verdict = judge(ratio(*interval), None, blocks=3, prompts=8, drafted=1)
        assert bool(verdict.reason) == (verdict.word == "no claim")


def simulated(
    true_ratio: float,
    seed: int,
    *,
    blocks: int,
    block_noise: float,
    request_noise: float = 0.04,
) -> str:
    """One measurement: 16 prompts of different lengths and gains, noisy blocks."""
    random = np.random.default_rng(seed)
    prompts = 16
    tokens = np.tile(random.integers(20, 128, prompts).astype(float), (blocks, 1))
    seconds = tokens * 0.025
    noise = random.normal(0, request_noise, (2, blocks, prompts))
    drift = random.normal(0, block_noise, (2, blocks, 1))
    gain = np.log(true_ratio)
    if true_ratio != 1:
        gain = gain + random.normal(0, 0.1, prompts)
    off = rate_of(tokens, seconds * np.exp(noise[0] + drift[0]))
    on = rate_of(tokens, seconds * np.exp(noise[1] + drift[1] - gain))
    found = paired_ratio(on, off, prompts)
    return judge(found, None, blocks=blocks, prompts=prompts, drafted=1).word


@pytest.mark.parametrize("block_noise", [0.0, 0.02, 0.1])
@pytest.mark.parametrize("blocks", [3, 6])
def test_an_arm_against_itself_is_not_called_faster(blocks, block_noise):
    words = [
        simulated(1.0, seed, blocks=blocks, block_noise=block_noise)
        for seed in range(100)
    ]
    assert words.count("faster") <= 5
    assert words.count("slower") <= 5


def test_an_arm_against_itself_on_a_quiet_machine_is_no_difference():
    words = [
        simulated(1.0, seed, blocks=6, block_noise=0.002, request_noise=0.01)
        for seed in range(50)
    ]
    assert words.count("no difference") >= 45


@pytest.mark.parametrize(("blocks", "block_noise"), [(3, 0.02), (6, 0.05)])
def test_a_true_gain_of_a_third_is_found(blocks, block_noise):
    words = [
        simulated(1.3, seed, blocks=blocks, block_noise=block_noise)
        for seed in range(100)
    ]
    assert words.count("faster") >= 95
    assert "slower" not in words


def test_a_true_loss_is_found():
    words = [simulated(1 / 1.3, seed, blocks=3, block_noise=0.02) for seed in range(50)]
    assert words.count("slower") >= 45
    assert "faster" not in words
