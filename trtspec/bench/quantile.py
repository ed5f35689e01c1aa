"""How sure is a percentile: intervals from order statistics, in clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import exp, log

import numpy as np
from numpy.typing import NDArray

from trtspec.bench.spread import CONFIDENCE, Spread, spread_of, t_quantile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Interval = tuple[float, float]
Place = tuple[str, int]
"""A prompt and a block."""

_TAIL = (1 - CONFIDENCE) / 2
_MEDIAN = 0.5
_FEWER = 3


@dataclass(frozen=True, slots=True)
class Table:
    """Values, and the numbers of the prompt and the block that each is of."""

    values: Floats
    prompt: Ints
    block: Ints
    prompts: int
    blocks: int

    @classmethod
    def of(cls, values: Mapping[Place, Sequence[float]]) -> Table:
        """Number prompts and blocks.

        :param values: those of each prompt in each block.
        """
        columns = {p: i for i, p in enumerate(dict.fromkeys(p for p, _ in values))}
        rows = {b: i for i, b in enumerate(dict.fromkeys(b for _, b in values))}
        sizes = [len(group) for group in values.values()]
        return cls(
            np.fromiter(chain.from_iterable(values.values()), dtype=float),
            np.repeat([columns[prompt] for prompt, _ in values], sizes),
            np.repeat([rows[block] for _, block in values], sizes),
            len(columns),
            len(rows),
        )

    def share_spread(self, value: float) -> Spread:
        """Analyse the variance of the share of values up to one.

        A cell holds how many of its values lie there beyond what is expected, relative
        to the mean number of values in a cell; the share's error is the cells' mean.
        """
        cells = self.prompts * self.blocks
        place = self.block * self.prompts + self.prompt
        below = np.bincount(place, weights=self.values <= value, minlength=cells)
        sizes = np.bincount(place, minlength=cells)
        beyond = (below - below.sum() / sizes.sum() * sizes) / sizes.mean()
        return spread_of(beyond.reshape(self.blocks, self.prompts))

    def median_from_blocks(self, value: float) -> Interval:
        """Give the t interval of the blocks' medians, around that of all.

        Times are positive: then it is that of their logarithms.
        """
        own = np.array(
            [np.median(self.values[self.block == b]) for b in range(self.blocks)]
        )
        positive = value > 0 and bool((own > 0).all())
        own = np.log(own) if positive else own
        error = float(own.std(ddof=1)) / len(own) ** 0.5
        half = t_quantile(len(own) - 1) * error
        if positive:
            return value * exp(-half), value * exp(half)
        return value - half, value + half


def quantile_with_interval(table: Table, rank: float) -> tuple[float, Interval | None]:
    """Give a quantile and its 95 % interval.

    The interval is Woodruff's: an interval for the share of values below the quantile,
    read off the ordered values. Values of one prompt resemble each other, and those of
    one block too; the share's variance is that of ``Spread``, and gives the number of
    independent values that would have the same, lowered for few prompts and blocks as
    the t quantile demands (Korn and Graubard, Survey Methodology 24, 1998). With that
    number the share has the Jeffreys interval (Brown, Cai and DasGupta, Statistical
    Science 16, 2001).

    Of a tail that number is not taken to be more than at the median, where it is better
    known. If it is less than a third of what bounds the tail, because blocks differ,
    the tail lies in blocks that were not measured, and has no interval. The interval of
    a median is then the t interval of the blocks' own.

    :param table: has at least one value.
    :param rank: between 0 and 1.
    :return: the quantile (Hyndman and Fan's type 7) and its interval; None for fewer
        than two blocks, and where so few prompts, or blocks, cannot bound it.
    """
    value = float(np.quantile(table.values, rank, method="linear"))
    if table.prompts < fewest_values(rank) or table.blocks < 2:
        return value, None
    if rank == _MEDIAN:
        spread = table.share_spread(value)
        size = _independent(table, rank, spread)
        if size < fewest_values(rank) and spread.by_blocks > spread.choice:
            return value, table.median_from_blocks(value)
    else:
        size = _independent_in_tail(table, rank, value)
        if size < fewest_values(rank) / _FEWER:
            return value, None
    edges = np.quantile(table.values, _share_interval(rank, size), method="linear")
    return value, (min(float(edges[0]), value), max(float(edges[1]), value))


def fewest_values(rank: float) -> float:
    """Say how many prompts bound a quantile from both sides.

    With fewer, all of them lie on one side of it in more than 2.5 % of samples, and no
    pair of values is a 95 % interval: 6 for p50, 72 for p95, 368 for p99. How many
    the values are worth is estimated, and by chance too high where it is needed most;
    so the prompts themselves count.
    """
    return log(_TAIL) / log(max(rank, 1 - rank))


def _independent(table: Table, rank: float, spread: Spread) -> float:
    """How many independent values would tell the share as well.

    What is known of a variance comes from the prompts on the smaller side of the
    quantile: of p prompts so many count for the t quantile as would have as many on
    either side of a median.
    """
    count = len(table.values)
    if not spread.variance:
        return float(count)
    telling = 2 * min(rank, 1 - rank) * spread.prompts
    lowered = (t_quantile(count - 1) / spread.reach_with(max(telling - 1, 1.0))) ** 2
    return float(min(rank * (1 - rank) / spread.variance * lowered, count))


def _independent_in_tail(table: Table, rank: float, value: float) -> float:
    median = float(np.median(table.values))
    return min(
        _independent(table, rank, table.share_spread(value)),
        _independent(table, _MEDIAN, table.share_spread(median)),
    )


def _share_interval(rank: float, size: float) -> Interval:
    from scipy.special import betaincinv

    below, above = rank * size + 0.5, (1 - rank) * size + 0.5
    low, high = betaincinv(below, above, [_TAIL, 1 - _TAIL])
    return float(low), float(high)
