"""What a statistic would be without one of the prompts: per block, for its spread.

Leaving prompts out one by one says how much a statistic depends on which were asked
(Tukey's jackknife: Efron and Tibshirani, An Introduction to the Bootstrap, 1993,
chapter 11). It needs no chance, and the statistics here are smooth, as it demands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Statistic:
    """One arm's statistic in every block, as a natural logarithm.

    :param blocks: of all prompts, [blocks].
    :param without: of all prompts but one, [blocks, prompts].
    """

    blocks: Floats
    without: Floats


def quantiles_of(values: Floats, ranks: Sequence[float]) -> list[Statistic]:
    """Take quantiles over prompts; 0.5 is the median.

    They are those of Harrell and Davis (Biometrika 69, 1982): means of all ordered
    values, weighted by how likely each is the quantile. A single order statistic jumps
    from value to value when prompts change; the ratio of two, of arms that have most of
    their spread in common, then seems far less sure than it is (Wilcox and Erceg-Hurn,
    Journal of Applied Statistics 39, 2012, compare dependent groups so).

    :param values: one value per block and prompt, [blocks, prompts]; two prompts.
    :return: one statistic per rank.
    """
    order = np.argsort(values, axis=1, kind="stable")
    ascending = np.take_along_axis(values, order, axis=1)
    return [_quantile(ascending, order, rank) for rank in ranks]


def rate_of(amounts: Floats, seconds: Floats) -> Statistic:
    """Take the sum of amounts over the sum of seconds.

    :param amounts: [blocks, prompts].
    :param seconds: [blocks, prompts].
    """
    whole = [part.sum(axis=1, keepdims=True) for part in (amounts, seconds)]
    # rounding must not leave more or less than nothing where one prompt has it all
    without = [
        np.maximum(total - part, 0.0)
        for total, part in zip(whole, (amounts, seconds), strict=True)
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = whole[0][:, 0] / whole[1][:, 0]
        return Statistic(_log(plain), _log(without[0] / without[1]))


def _quantile(ascending: Floats, order: NDArray[np.intp], rank: float) -> Statistic:
    """Take one quantile of every block.

    Without the k-th value those before it keep their places, and those behind it move
    one place forward.

    :param ascending: the values of each block in order, [blocks, prompts].
    :param order: which prompt each is of, [blocks, prompts].
    """
    blocks, prompts = ascending.shape
    plain = ascending @ _weights(prompts, rank)
    weights = _weights(prompts - 1, rank)
    nothing = np.zeros((blocks, 1))
    before = np.cumsum(ascending[:, :-1] * weights, axis=1)
    behind = np.cumsum((ascending[:, 1:] * weights)[:, ::-1], axis=1)[:, ::-1]
    sums = np.hstack([nothing, before]) + np.hstack([behind, nothing])
    without = np.empty_like(sums)
    np.put_along_axis(without, order, sums, axis=1)
    return Statistic(_log(plain), _log(without))


@lru_cache(maxsize=64)
def _weights(count: int, rank: float) -> Floats:
    """Weigh so many ordered values, [count]; they add up to 1."""
    from scipy.special import betainc

    shares = np.arange(count + 1) / max(count, 1)
    up_to = betainc((count + 1) * rank, (count + 1) * (1 - rank), shares)
    return np.asarray(np.diff(up_to))


def _log(values: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log(values)
