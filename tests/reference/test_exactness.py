"""Sampling through the whole engine follows the target model: a chi-square test.

The negative control accepts every draft token and must fail the same test.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from tests.reference.engines import generate, request, sampled, toy_engine
from tests.reference.toys import toy_model
from trtspec.reference import acceptance
from trtspec.reference.sampling import distribution

VOCABULARY = 10
PROMPT = (3, 9, 4)
REQUESTS = 4000
NOT_SUSPICIOUS = 1e-3  # seeds are fixed: a passing test always passes
CAUGHT = 1e-9


def exact_pairs(**sampling) -> np.ndarray:
    """Probability of each (second, third) output token, by plain forwards."""
    params = sampled(0, **sampling)
    texts = [PROMPT + pair for pair in itertools.product(range(VOCABULARY), repeat=2)]
    with torch.inference_mode():
        logits = toy_model(vocabulary=VOCABULARY)(torch.tensor(texts)).logits
    p = torch.stack(
        [torch.stack([distribution(row, params) for row in text]) for text in logits]
    )
    first = p[0, len(PROMPT) - 1]  # after the prompt
    after_one = p[::VOCABULARY, len(PROMPT)]  # [first, second]
    after_two = p[:, len(PROMPT) + 1].reshape(VOCABULARY, VOCABULARY, VOCABULARY)
    pairs = torch.einsum("a,ab,abc->bc", first, after_one, after_two)
    return pairs.numpy().ravel()


def sampled_pairs(method: str, draft_length: int, **sampling) -> np.ndarray:
    engine = toy_engine(
        method, draft_length, slots=64, vocabulary=VOCABULARY, draft_seed=1
    )
    asked = [
        request(str(i), PROMPT, 5, sampling=sampled(i, **sampling))
        for i in range(REQUESTS)
    ]
    done = generate(engine, *asked)
    counts = np.zeros((VOCABULARY, VOCABULARY))
    for completion in done.values():
        counts[completion.tokens[1], completion.tokens[2]] += 1
    return counts.ravel()


def p_value(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """Chi-square test with the cells that expect fewer than 5 counts pooled."""
    expected = probabilities * counts.sum()
    small = expected < 5
    observed = np.append(counts[~small], counts[small].sum())
    wanted = np.append(expected[~small], expected[small].sum())
    if wanted[-1] == 0:
        if observed[-1]:
            return 0.0  # something impossible came out
        observed, wanted = observed[:-1], wanted[:-1]
    return float(chisquare(observed, wanted).pvalue)


CASES = [
    ("none", 1, {}),
    ("draft_target", 1, {}),
    ("draft_target", 3, {}),
    ("draft_target", 3, {"temperature": 0.7, "top_k": 5}),
    ("draft_target", 2, {"temperature": 1.6, "top_p": 0.8}),
    ("ngram", 3, {}),
    ("ngram", 2, {"temperature": 0.7, "top_k": 4, "top_p": 0.95}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("method", "draft_length", "sampling"), CASES)
def test_sampled_tokens_follow_the_target(method, draft_length, sampling):
    counts = sampled_pairs(method, draft_length, **sampling)
    assert p_value(counts, exact_pairs(**sampling)) > NOT_SUSPICIOUS


@pytest.mark.slow
@pytest.mark.parametrize("method", ["draft_target", "ngram"])
def test_negative_control_accepting_everything_fails(method, monkeypatch):
    monkeypatch.setattr(acceptance, "acceptance_probability", lambda p, q, token: 1.0)
    assert p_value(sampled_pairs(method, 3), exact_pairs()) < CAUGHT


@pytest.mark.slow
def test_negative_control_resampling_from_the_whole_target_fails(monkeypatch):
    """A rejected token redrawn from p comes out with p (2 - p)."""
    monkeypatch.setattr(acceptance, "residual", lambda p, q, token: p)
    assert p_value(sampled_pairs("ngram", 3), exact_pairs()) < CAUGHT


@pytest.mark.slow
def test_negative_control_of_another_temperature_fails():
    counts = sampled_pairs("draft_target", 3, temperature=0.8)
    assert p_value(counts, exact_pairs()) < CAUGHT
