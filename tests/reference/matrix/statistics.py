"""Whether sampled tokens follow the target: chi-square tests on pairs of tokens."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import torch
from scipy.stats import chisquare

from tests.reference.engines import generate, request, sampled
from tests.reference.matrix.engines import VOCABULARY, engine_of, plain_logits
from tests.reference.toy_heads import Toy
from trtspec.reference.sampling import distribution

PROMPT = (3, 9, 4, 3, 9, 4, 3)
"""Repeats itself, so that drafters that copy find something."""
TOKENS = 5
"""The first is the prefill's; up to three more can be drafts of one step."""
TESTED = ((1, 2), (2, 3))
"""Places of the output whose pairs of tokens are compared."""
SLOTS = 64


@functools.cache
def exact_pairs(**sampling) -> tuple[np.ndarray, ...]:
    """Probabilities of the pairs at ``TESTED``, by plain forwards over every text."""
    params = sampled(0, **sampling)
    continuations = itertools.product(range(VOCABULARY), repeat=3)
    logits = plain_logits(torch.tensor([PROMPT + rest for rest in continuations]))
    shape = (VOCABULARY,) * 3
    joint = torch.ones(())
    for place in range(4):  # joint: [first, second, ...]
        after = logits[:, len(PROMPT) - 1 + place].reshape(*shape, VOCABULARY)
        after = after[(slice(None),) * place + (0,) * (3 - place)]
        rows = [distribution(row, params) for row in after.reshape(-1, VOCABULARY)]
        joint = joint[..., None] * torch.stack(rows).reshape(after.shape)
    return tuple(
        joint.sum([i for i in range(4) if i not in pair]).numpy().ravel()
        for pair in TESTED
    )


def sampled_pairs(toy: Toy, requests: int, **sampling) -> tuple[np.ndarray, ...]:
    """Count the pairs at ``TESTED`` over requests whose seeds are 0, 1, 2, ..."""
    asked = [
        request(str(i), PROMPT, TOKENS, sampling=sampled(i, **sampling))
        for i in range(requests)
    ]
    with engine_of(toy, SLOTS) as engine:
        done = generate(engine, *asked)
    counts = np.zeros((len(TESTED), VOCABULARY, VOCABULARY))
    for completion in done.values():
        for test, (first, second) in enumerate(TESTED):
            counts[test, completion.tokens[first], completion.tokens[second]] += 1
    return tuple(count.ravel() for count in counts)


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


def least_p_value(toy: Toy, requests: int, **sampling) -> float:
    """The p-value of the pair that fits worst."""
    counted = sampled_pairs(toy, requests, **sampling)
    return worst(counted, exact_pairs(**sampling))


def worst(counted: tuple[np.ndarray, ...], expected: tuple[np.ndarray, ...]) -> float:
    return min(map(p_value, counted, expected))
