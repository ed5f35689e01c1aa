"""How small a shift would be found, and how many requests that takes.

A shift of d in total variation between two distributions p and q means, whatever m lies
between them, by the inequality of Cauchy and Schwarz

    sum (p - q)^2 / m  >=  (sum |p - q|)^2 / sum m  =  4 d^2

so a table with rows of n and m answers has a non-centrality of at least

    lambda = n m / (n + m) * 4 d^2

(that of Pearson's and, to first order, of the G statistic: R. Meng and D. Chapman, The
power of chi square tests for contingency tables, J. Am. Stat. Assoc. 61, 1966). Sums
over places and prompts add up. The statistic's distribution without a shift is taken
from permutations, as a multiple s of a chi-square of f degrees with the same mean and
variance (F. Satterthwaite, Biometrics Bulletin 2, 1946), and with a shift as s times a
non-central one with lambda / s.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt


@dataclass(frozen=True, slots=True)
class Null:
    """A statistic's mean and variance where arms do not matter."""

    mean: float
    variance: float

    @property
    def scale(self) -> float:
        """Factor before a chi-square."""
        return self.variance / (2 * self.mean)

    @property
    def degrees(self) -> float:
        """Degrees of freedom of that chi-square."""
        return self.mean / self.scale

    def critical(self, level: float) -> float:
        """Give what the statistic exceeds with a chance of ``level``."""
        from scipy.special import chdtri

        return float(self.scale * chdtri(self.degrees, level))

    def beyond(self, critical: float, added: float) -> float:
        """Give the chance to exceed a value with a non-centrality of ``added``."""
        from scipy.special import chndtr

        scaled = critical / self.scale, self.degrees, added / self.scale
        return 1.0 - float(chndtr(*scaled))

    def power(self, added: float, level: float) -> float:
        """Give the chance to be found at a level with a non-centrality of ``added``."""
        return self.beyond(self.critical(level), added)


def effective(first: int, second: int) -> float:
    """Give n m / (n + m): what two samples are worth together."""
    return first * second / (first + second)


def non_centrality(shift: float, size: float, tables: int) -> float:
    """Give the least that a shift adds to the statistic.

    :param shift: total variation in each table.
    :param size: ``effective`` size of a table.
    :param tables: prompts times places.
    """
    return 4 * shift**2 * size * tables


def as_shift(added: float, size: float, tables: int) -> float:
    """Give the largest root mean square shift that so large a surplus can mean.

    :param added: the statistic less its mean without a shift.
    """
    return min(1.0, sqrt(max(added, 0.0) / (4 * size * tables))) if tables else 0.0


def smallest_shift(
    null: Null, size: float, tables: int, level: float, power: float
) -> float | None:
    """Give the smallest shift that is found with a chance of ``power``.

    :returns: total variation in every table; None if not even 1 is.
    """
    from scipy.optimize import brentq

    if null.mean <= 0 or null.variance <= 0:
        return None
    critical = null.critical(level)

    def missing(shift: float) -> float:
        return null.beyond(critical, non_centrality(shift, size, tables)) - power

    return None if missing(1.0) < 0 else float(brentq(missing, 0.0, 1.0, xtol=1e-4))
