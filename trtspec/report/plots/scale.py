"""Where on the paper a value lies, and which values get a tick."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_STEPS = (1, 2, 2.5, 5, 10, 20)
_LOG_STEPS = (1, 2, 5)


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values to coordinates.

    :param low, high: the values at both ends; above 0 if ``log``.
    :param start, end: their coordinates.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Give the coordinate of a value."""
        low, high = self._at(self.low), self._at(self.high)
        share = (self._at(value) - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def _at(self, value: float) -> float:
        return math.log(value) if self.log else value

    def ticks(self, wanted: int = 5) -> list[float]:
        """Give round values within the scale."""
        if not self.log:
            return linear_ticks(self.low, self.high, wanted)
        ticks = log_ticks(self.low, self.high)
        if len(ticks) < 3:
            return [t for t in linear_ticks(self.low, self.high, wanted) if t > 0]
        while len(ticks) > wanted + 2:
            ticks = ticks[::2]
        return ticks


def linear_ticks(low: float, high: float, wanted: int = 5) -> list[float]:
    """Give multiples of 1, 2, 2.5 or 5 times a power of ten, at most ``wanted``."""
    power = 10.0 ** math.floor(math.log10((high - low) / wanted))
    for step in (s * power for s in _STEPS):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < wanted:
            break
    return [round(i * step, 12) for i in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Give 1, 2 and 5 times the powers of ten."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    all_of_them = [
        round(s * 10.0**p, 12) for p in range(first, last + 1) for s in _LOG_STEPS
    ]
    return [t for t in all_of_them if low * 0.999 <= t <= high * 1.001]


def padded(values: Sequence[float], share: float = 0.06) -> tuple[float, float]:
    """Give the ends of a linear scale with some air; never of no width."""
    low, high = min(values), max(values)
    air = (high - low) * share or abs(high) * 0.1 or 1.0
    return low - air, high + air


def log_padded(values: Sequence[float], share: float = 0.08) -> tuple[float, float]:
    """Give the ends of a logarithmic scale with some air."""
    low, high = padded([math.log(v) for v in values], share)
    if high - low < 0.04:  # all at one place: log 1 = 0 has no size to take air from
        low, high = low - 0.1, high + 0.1
    return math.exp(low), math.exp(high)


def tick_text(value: float) -> str:
    """Write a tick as short as it can be."""
    if value == 0:
        return "0"
    if abs(value) >= 10_000:
        return f"{value / 1000:g}k"
    return f"{value:.4g}"
