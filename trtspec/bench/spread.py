"""How far off a mean over prompts and blocks may be: two sources of error together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

import numpy as np
from numpy.typing import NDArray

CONFIDENCE = 0.95

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Spread:
    """Variances of a mean over a table with a row per block and a column per prompt.

    Every block asks the same prompts, so a value is: mean + what its prompt does + what
    its block does + what is its own alone. With variances P, B and R of the three, the
    mean over p prompts and b blocks has the variance P/p + B/b + R/pb.

    :param by_prompts: spread of the prompts' means, over p: estimates P/p + R/pb.
    :param by_blocks: spread of the blocks' means, over b: estimates B/b + R/pb.
    :param by_requests: spread of what neither explains, over pb: estimates R/pb.
    """

    prompts: int
    blocks: int
    by_prompts: float
    by_blocks: float
    by_requests: float

    @property
    def choice(self) -> float:
        """Variance from the choice of prompts alone, P/p."""
        return max(self.by_prompts - self.by_requests, 0.0)

    @property
    def variance(self) -> float:
        """Variance of the mean; the noise of single requests is counted once."""
        return self.choice + self.by_blocks

    @property
    def error(self) -> float:
        """Standard error of the mean."""
        return sqrt(self.variance)

    @property
    def reach(self) -> float:
        """How many standard errors the 95 % interval goes to each side."""
        return self.reach_with(self.prompts - 1)

    def reach_with(self, of_prompts: float) -> float:
        """Give the same, where the prompts' variance has other degrees of freedom.

        Of two variances with their own degrees of freedom there is no exact quantile.
        The approximation of Cochran and Cox (Experimental Designs, 1950), which weights
        the two t quantiles by the variances, is too wide; that of Satterthwaite
        (Biometrics Bulletin 2, 1946), which takes one t quantile at a mean of the
        degrees of freedom, is too narrow for few blocks (Lee and Gurland 1975 for the
        first). Half-way between comes closest to 95 %, for 3 to 10 blocks and 8 to 200
        prompts: docs/statistics.md has the coverage.
        """
        of_blocks = self.blocks - 1
        if not self.variance:
            return t_quantile(of_blocks)
        choice = self.choice / self.variance
        blocks = self.by_blocks / self.variance
        weighted = choice * t_quantile(of_prompts) + blocks * t_quantile(of_blocks)
        freedom = 1 / (choice**2 / of_prompts + blocks**2 / of_blocks)
        return (weighted + t_quantile(freedom)) / 2


def spread_of(table: Floats) -> Spread:
    """Analyse the variance of a table without gaps, [blocks, prompts], 2 of each."""
    blocks, prompts = table.shape
    of_prompts, of_blocks = table.mean(axis=0), table.mean(axis=1)
    rest = table - of_prompts - of_blocks[:, None] + table.mean()
    freedom = (blocks - 1) * (prompts - 1)
    return Spread(
        prompts=prompts,
        blocks=blocks,
        by_prompts=float(of_prompts.var(ddof=1)) / prompts,
        by_blocks=float(of_blocks.var(ddof=1)) / blocks,
        by_requests=float((rest**2).sum()) / freedom / table.size,
    )


@lru_cache(maxsize=4096)
def t_quantile(freedom: float) -> float:
    """Give Student's t quantile of a two-sided 95 % interval."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


@lru_cache(maxsize=256)
def freedom_of(reach: float) -> float:
    """Give the degrees of freedom that have this t quantile."""
    from scipy.optimize import brentq

    most = 1e6
    if reach <= t_quantile(most):
        return most
    return float(brentq(lambda freedom: t_quantile(freedom) - reach, 0.5, most))
