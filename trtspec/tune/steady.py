"""How fast a draft length is at a batch size that stays full, and how sure is that.

A step of b requests emits b E tokens and takes the time of its longest draft. E, the
tokens per step of one request, comes from walking every answer of the workload: start,
jump by what a step emits, repeat. The time comes from the cost table.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np
from numpy.typing import NDArray

from trtspec.bench.spread import t_quantile
from trtspec.tune.costs import StepCosts
from trtspec.tune.replay import walk
from trtspec.tune.trace import PromptTrace

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Walked:
    """What one draft length does along every answer.

    :param length: draft tokens per step; 0 for plain decoding; of a tree its nodes.
    :param depth: levels that are drafted.
    :param emitted: tokens of each answer behind its first, [prompts].
    :param counts: steps of each prompt by draft tokens that the target reads,
        [prompts, most + 1].
    :param contexts: tokens of each prompt and half its answer, [prompts].
    """

    length: int
    depth: int
    emitted: Ints
    counts: Ints
    contexts: Ints

    @property
    def tokens_per_step(self) -> float:
        """E: tokens emitted per step of one request."""
        return float(self.emitted.sum() / self.counts.sum())


def walked(
    traces: Sequence[PromptTrace], length: int, named: int | None = None
) -> Walked:
    """Walk every answer with one draft length.

    :param traces: one or several courses of each prompt.
    :param named: what it is called: the nodes of a tree; ``length`` if not given.
    """
    by_prompt: dict[str, list[PromptTrace]] = {}
    for trace in traces:  # courses of one prompt are no prompts of their own
        by_prompt.setdefault(trace.prompt_id, []).append(trace)
    read = [[k for t in own for k in walk(t, length)] for own in by_prompt.values()]
    most = max((max(each, default=0) for each in read), default=0)
    counts = np.stack([np.bincount(each, minlength=most + 1) for each in read])
    emitted = [sum(t.emitted - 1 for t in own) for own in by_prompt.values()]
    first = [own[0] for own in by_prompt.values()]
    contexts = [t.prompt_tokens + t.emitted // 2 for t in first]
    return Walked(
        named or length, length, np.array(emitted), counts, np.array(contexts)
    )


@dataclass(frozen=True, slots=True)
class Point:
    """One draft length at one batch size.

    :param tokens: emitted per step of one request, the bonus token included.
    :param seconds: of a step.
    :param times: share of each prompt in the time, [prompts]; they sum to 1.
    :param error: relative standard error of the step's cost.
    """

    length: int
    batch: int
    tokens: float
    seconds: float
    times: Floats
    error: float

    @property
    def throughput(self) -> float:
        """Tokens per second of the whole batch."""
        return self.batch * self.tokens / self.seconds

    @property
    def tpot(self) -> float:
        """Seconds per token of one request."""
        return self.seconds / self.tokens


def point(of: Walked, batch: int, costs: StepCosts) -> Point:
    """Give what a draft length does at a batch size.

    Where drafts differ in length, a step takes as long as the longest of its batch;
    the requests of a batch are taken to be independent of one another.
    """
    most = of.counts.shape[1] - 1
    context = _longest(of.contexts, batch)
    cost = np.array([costs.step(batch, of.depth, k, context) for k in range(most + 1)])
    pooled = of.counts.sum(axis=0)
    below = np.cumsum(pooled) / pooled.sum()
    seconds = float(_steps(below**batch) @ cost)
    per_step = _marginal(below ** (batch - 1), cost)
    times = of.counts @ per_step
    return Point(
        length=of.length,
        batch=batch,
        tokens=of.tokens_per_step,
        seconds=seconds,
        times=times / times.sum(),
        error=costs.error if of.length else costs.verify.error,
    )


def _steps(below: Floats) -> Floats:
    """Give what each entry adds to the one before it."""
    found: Floats = below.copy()
    found[1:] -= below[:-1]
    return found


def _longest(contexts: Ints, batch: int) -> int:
    """Expected longest context of a batch drawn from the workload."""
    ordered = np.sort(contexts)
    below = np.arange(1, len(ordered) + 1) / len(ordered)
    return round(float(_steps(below**batch) @ ordered))


def _marginal(others: Floats, cost: Floats) -> Floats:
    """Expected time of a step in which one request's draft has a known length.

    :param others: chance that all other drafts are at most so long, [lengths].
    """
    chance = _steps(others)
    longer = np.cumsum((chance * cost)[::-1])[::-1]
    found: Floats = others * cost + np.append(longer[1:], 0.0)
    return found


@dataclass(frozen=True, slots=True)
class Gain:
    """Throughput of one point / that of another, with a 95 % interval."""

    ratio: float
    low: float
    high: float

    @property
    def word(self) -> str:
        """``faster``, ``slower`` or ``no claim``."""
        if self.low > 1:
            return "faster"
        return "slower" if self.high < 1 else "no claim"


def gain(one: Point, other: Point) -> Gain:
    """Compare two points at one batch size over the same prompts.

    The logarithm of the ratio of two sums over prompts has, to first order, the
    variance n / (n - 1) sum of (t_i - u_i)^2, with t and u each prompt's share in the
    times. To it come the squared errors of both costs. One prompt carries no interval.
    """
    ratio = one.throughput / other.throughput
    reach = margin(one, other)
    return Gain(ratio, exp(log(ratio) - reach), exp(log(ratio) + reach))


def margin(one: Point, other: Point) -> float:
    """Half-width of that interval, of the ratio's natural logarithm."""
    if one.length == other.length:
        return 0.0
    prompts = len(one.times)
    if prompts < 2:
        return float("inf")
    apart = float(((one.times - other.times) ** 2).sum()) * prompts / (prompts - 1)
    freedom = float(prompts - 1)
    return t_quantile(freedom) * sqrt(apart + one.error**2 + other.error**2)
