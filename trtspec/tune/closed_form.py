"""What speculation would gain if every draft token had the same chance to be accepted.

A prior and a cross-check, never a decision: acceptance differs by position and text,
and the cost of a step is jagged. Leviathan et al., arXiv 2211.17192, section 3.
"""

from __future__ import annotations

from typing import NamedTuple


class Optimum(NamedTuple):
    """A draft length and what it would gain.

    :ivar length: draft tokens per step; 0 if nothing gains.
    :ivar gain: tokens per second, relative to plain decoding.
    """

    length: int
    gain: float


def expected_tokens(acceptance: float, length: int) -> float:
    """(1 - a^(K + 1)) / (1 - a): tokens per step, bonus included (equation 1).

    :param acceptance: a, chance of each draft token if those before it were accepted.
    :param length: K, draft tokens per step.
    """
    _require_share(acceptance)
    if acceptance == 1:
        return float(length + 1)
    return float((1 - acceptance ** (length + 1)) / (1 - acceptance))


def expected_gain(acceptance: float, length: int, cost: float) -> float:
    """Expected tokens / (K c + 1): the gain in time (theorem 3.8).

    :param cost: c, time of drafting one token / time of a step of the target.
    """
    if not cost >= 0:
        raise ValueError(f"a cost of {cost} is not 0 or more")
    return expected_tokens(acceptance, length) / (length * cost + 1)


def best_length(acceptance: float, cost: float, longest: int = 64) -> Optimum:
    """Give the draft length with the largest gain; the shortest of equals.

    :param longest: largest length that is tried.
    """
    lengths = range(longest + 1)
    best = max(lengths, key=lambda k: (expected_gain(acceptance, k, cost), -k))
    return Optimum(best, expected_gain(acceptance, best, cost))


def _require_share(acceptance: float) -> None:
    if not 0 <= acceptance <= 1:
        raise ValueError(f"an acceptance of {acceptance} is not between 0 and 1")
