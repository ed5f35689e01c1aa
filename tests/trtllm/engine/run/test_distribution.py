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
from tests.trtllm.engine.run.fakes import VOCABULARY
from tests.trtllm.engine.run.on_standins import StandInOpener
from trtspec.run import SamplingParams
from trtspec.trtllm.engine.run import EngineRunner, drafters
from trtspec.trtllm.engine.run.request import Draft

pytestmark = pytest.mark.slow

PROMPT = (3, 9, 4)
ENDING, LIKELY_END = (36, 17, 31), 9
"""Behind this prompt, this second token is likely to target and draft models."""
TEMPERATURE = 0.6
SAMPLES = 900
ALPHA = 1e-3


@pytest.fixture
def opener(monkeypatch, tmp_path):
    opener = StandInOpener(monkeypatch, tmp_path)
    yield opener
    for runner in opener.opened:
        runner.close()


@torch.no_grad()
def probabilities(texts) -> torch.Tensor:
    """The target's distribution of the next token behind each text."""
    logits = toy()(torch.tensor(texts)).logits[:, -1].double()
    return torch.softmax(logits / TEMPERATURE, -1)


def second_token(prompt, end: int | None = None) -> torch.Tensor:
    """The target's distribution of the second token, the first one summed out.

    :param end: a token that is not the first one.
    """
    first = probabilities([prompt])[0]
    if end is not None:
        first = first.index_fill(0, torch.tensor([end]), 0.0)
    behind = probabilities([[*prompt, token] for token in range(len(first))])
    return (first / first.sum()) @ behind


def second_tokens(runner: EngineRunner, prompt, *, ignore_eos: bool) -> torch.Tensor:
    """Count the second tokens: each is the first that a draft could change."""
    requests = [
        ask(
            f"r{seed}",
            prompt,
            3,
            sampling=sampled(seed, temperature=TEMPERATURE),
            ignore_eos=ignore_eos,
        )
        for seed in range(SAMPLES)
    ]
    done, _ = finish(runner, *requests)
    found = [c.tokens[1] for c in done.values() if len(c.tokens) > 1]
    return torch.bincount(torch.tensor(found), minlength=VOCABULARY).double()


def p_value(runner: EngineRunner) -> float:
    """Chi-square test of which token it is; the rare ones are one cell."""
    found = second_tokens(runner, PROMPT, ignore_eos=True)
    expected = second_token(PROMPT) * found.sum()
    rare = expected < 5
    pooled = [
        torch.cat([counts[~rare], counts[rare].sum()[None]]).numpy()
        for counts in (found, expected)
    ]
    return float(scipy.stats.chisquare(*pooled).pvalue)


def p_value_of_the_end(runner: EngineRunner) -> float:
    """Chi-square test of whether it is the end token."""
    found = second_tokens(runner, ENDING, ignore_eos=False)
    expected = second_token(ENDING, LIKELY_END) * found.sum()
    pooled = [
        torch.stack([counts[LIKELY_END], counts.sum() - counts[LIKELY_END]]).numpy()
        for counts in (found, expected)
    ]
    return float(scipy.stats.chisquare(*pooled).pvalue)


@pytest.mark.parametrize("draft_seed", [0, 1])
def test_samples_by_logits_follow_the_targets_distribution(opener, draft_seed):
    runner, records = opener(
        "draft_target", draft_seed=draft_seed, use_draft_logits=True
    )
    assert p_value(runner) > ALPHA
    assert sum(record.drafted for record in records[-1].requests) == SAMPLES


@pytest.mark.parametrize("draft_seed", [0, 1])
def test_so_do_samples_that_a_likely_end_token_ends(opener, draft_seed):
    options = {"draft_seed": draft_seed, "use_draft_logits": True}
    runner, records = opener("draft_target", ends=(LIKELY_END,), **options)
    assert p_value_of_the_end(runner) > ALPHA
    drafts = [r.external_draft for r in records[-1].requests if r.external_draft]
    assert sum(LIKELY_END in draft for draft in drafts) > len(drafts) / 20


@pytest.mark.parametrize("draft_seed", [0, 1])
def test_but_not_if_a_drawn_end_token_cut_the_draft(opener, monkeypatch, draft_seed):
    whole = drafters.DraftEngine._draft

    def cut(*arguments):
        draft = whole(*arguments)
        size = (*draft.tokens, LIKELY_END).index(LIKELY_END)
        return Draft(draft.tokens[:size], draft.logits[:size])

    monkeypatch.setattr(drafters.DraftEngine, "_draft", cut)
    options = {"draft_seed": draft_seed, "use_draft_logits": True}
    runner, _ = opener("draft_target", ends=(LIKELY_END,), **options)
    assert p_value_of_the_end(runner) < ALPHA


def test_samples_by_tokens_do_not(opener):
    runner, _ = opener("draft_target", draft_seed=0, allow_lossy=True)
    assert p_value(runner) < ALPHA


def test_nor_would_drafts_drawn_at_the_requests_temperature(opener, monkeypatch):
    as_asked = SamplingParams(temperature=TEMPERATURE)
    monkeypatch.setattr(drafters, "PLAIN_SAMPLING", as_asked)
    runner, _ = opener("draft_target", draft_seed=0, use_draft_logits=True)
    assert p_value(runner) < ALPHA
