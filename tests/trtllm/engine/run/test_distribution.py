"""Sampled output follows the target's distribution, or is refused as lossy.

One rule decides in both directions: a p-value below ``ALPHA``. The temperature is one
at which the negative controls can be told apart at all: flatter, and nearly certain,
distributions hide what a wrong rule does.
"""

from __future__ import annotations

import pytest
import scipy.stats
import torch

from tests.standins.engines import toy
from tests.trtllm.engine.run.artifacts import ask, finish, sampled
from tests.trtllm.engine.run.on_standins import StandInOpener
from trtspec.run import SamplingParams
from trtspec.trtllm.engine.run import EngineRunner, drafters

pytestmark = pytest.mark.slow

PROMPT = (3, 9, 4)
TEMPERATURE = 0.6
SAMPLES = 900
ALPHA = 1e-3


@pytest.fixture
def opener(monkeypatch, tmp_path):
    opener = StandInOpener(monkeypatch, tmp_path)
    yield opener
    for runner in opener.opened:
        runner.close()


@torch.inference_mode()
def second_token() -> torch.Tensor:
    """The target's distribution of the second token, the first one summed out."""

    def probabilities(texts):
        logits = toy()(torch.tensor(texts)).logits[:, -1].double()
        return torch.softmax(logits / TEMPERATURE, -1)

    first = probabilities([PROMPT])[0]
    behind = probabilities([[*PROMPT, token] for token in range(len(first))])
    return first @ behind


def p_value(runner: EngineRunner) -> float:
    """Chi-square test of second tokens, each the first that a draft could change."""
    expected = second_token() * SAMPLES
    requests = [
        ask(f"r{seed}", PROMPT, 3, sampling=sampled(seed, temperature=TEMPERATURE))
        for seed in range(SAMPLES)
    ]
    done, _ = finish(runner, *requests)
    assert sum(completion.drafted for completion in done.values()) == SAMPLES
    found = torch.zeros_like(expected)
    for completion in done.values():
        found[completion.tokens[1]] += 1
    rare = expected < 5
    pooled = [
        torch.cat([counts[~rare], counts[rare].sum()[None]]).numpy()
        for counts in (found, expected)
    ]
    return float(scipy.stats.chisquare(*pooled).pvalue)


@pytest.mark.parametrize("draft_seed", [0, 1])
def test_samples_by_logits_follow_the_targets_distribution(opener, draft_seed):
    runner, _ = opener("draft_target", draft_seed=draft_seed, use_draft_logits=True)
    assert p_value(runner) > ALPHA


def test_samples_by_tokens_do_not(opener):
    runner, _ = opener("draft_target", draft_seed=0, allow_lossy=True)
    assert p_value(runner) < ALPHA


def test_nor_would_drafts_drawn_at_the_requests_temperature(opener, monkeypatch):
    as_asked = SamplingParams(temperature=TEMPERATURE)
    monkeypatch.setattr(drafters, "PLAIN_SAMPLING", as_asked)
    runner, _ = opener("draft_target", draft_seed=0, use_draft_logits=True)
    assert p_value(runner) < ALPHA
