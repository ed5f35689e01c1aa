"""How small a difference would be found: the power of a comparison."""

from __future__ import annotations

from math import log

import numpy as np
from numpy.typing import NDArray

from trtspec.bench.ratio import Ratio
from trtspec.bench.spread import t_quantile

POWER = 0.8
"""Share of runs in which a visible difference is found."""
SAME = 0.03
"""Ratios within 1 +- this are called no difference."""

_RANKS = (np.arange(128) + 0.5) / 128
"""Where the distribution of an estimated error is taken."""
_MOST = 9.0
"""A gain that no one looks for: ten times as fast."""

Floats = NDArray[np.float64]


def power_of(gain: float, error: float, freedom: float) -> float:
    """Give the share of runs in which a true gain is called faster.

    The estimate of its logarithm is normal around the truth; its error is itself
    estimated, as if from ``freedom + 1`` values. A gain is found where the interval
    lies above 1 and does not end below 1.03: there it is called no difference.

    :param gain: relative, such as 0.05.
    :param error: true standard error of the ratio's logarithm.
    :param freedom: degrees of freedom of its estimate.
    """
    if not error:
        return float(gain > SAME)
    return _power(gain, error, _needed(error, freedom))


def visible_difference(ratio: Ratio | None) -> float | None:
    """Give the smallest gain that would be found in four of five runs like this one.

    How large this run's true error is, is known from few blocks only: the power is
    averaged over the errors that may have given the one that was found (its fiducial
    distribution, error * sqrt(freedom / chi-squared)). Taken from the off arm against
    itself, it holds for a gain that is the same for every prompt.

    :return: relative, such as 0.05; None if it cannot be told.
    """
    from scipy.optimize import brentq

    if ratio is None or ratio.error is None or ratio.freedom is None:
        return None
    if not ratio.error:
        return SAME
    true = ratio.error / _spread_of_errors(ratio.freedom)[:, None]
    needed = _needed(true, ratio.freedom)

    def missing(gain: float) -> float:
        return _power(gain, true, needed) - POWER

    if missing(_MOST) < 0:
        return None
    return float(brentq(missing, 0.0, _MOST))


def _spread_of_errors(freedom: float) -> Floats:
    """Give estimated / true standard errors, at even ranks of their distribution."""
    from scipy.special import gammaincinv

    return np.asarray(np.sqrt(2 * gammaincinv(freedom / 2, _RANKS) / freedom))


def _needed(true: float | Floats, freedom: float) -> Floats:
    """Give how large the log ratio must come out, over the errors that may be found."""
    half = t_quantile(freedom) * true * _spread_of_errors(freedom)
    return np.maximum(half, log(1 + SAME) - half)


def _power(gain: float, true: float | Floats, needed: Floats) -> float:
    from scipy.special import ndtr

    return float(ndtr((log(1 + gain) - needed) / true).mean())
