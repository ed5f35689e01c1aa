"""How a number reads: every figure of a report is written by a function from here."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trtspec.bench.cells import Acceptance, ArmSummary
from trtspec.bench.metrics import METRICS, ArmMetric, Quantile, RequestMetric
from trtspec.bench.outputs import Outputs
from trtspec.bench.ratio import Interval, Ratio

NOTHING = "–"
"""Stands for no value."""

_LONG_HEX = re.compile(r"[0-9a-f]{40,}")
_SHORT = 12
_GIB = 1 << 30


def times(ratio: Ratio | None, digits: int = 2) -> str:
    """Write the estimate of a ratio: 1.84×."""
    return NOTHING if ratio is None else f"{ratio.estimate:.{digits}f}×"


def interval(ends: Interval | None, digits: int = 2) -> str:
    """Write an interval: [1.71, 1.97]."""
    if ends is None:
        return "(no interval)"
    return f"[{ends[0]:.{digits}f}, {ends[1]:.{digits}f}]"


def ratio(found: Ratio | None, digits: int = 2) -> str:
    """Write a ratio with its interval."""
    if found is None:
        return NOTHING
    return f"{times(found, digits)} {interval(found.interval, digits)}"


def percent(share: float | None, digits: int = 1) -> str:
    """Write a share in percent."""
    return NOTHING if share is None else f"{share * 100:.{digits}f} %"


def percent_interval(ends: Interval | None) -> str:
    """Write an interval of shares in percent."""
    if ends is None:
        return NOTHING
    return f"[{ends[0] * 100:.1f}, {ends[1] * 100:.1f}] %"


def count(value: int | None) -> str:
    """Write a whole number, thousands apart."""
    return NOTHING if value is None else f"{value:,}"


def decimal(value: float | None, digits: int = 2) -> str:
    """Write a plain number."""
    return NOTHING if value is None else f"{value:,.{digits}f}"


def gibibytes(size: int | None) -> str:
    """Write a size of memory."""
    return NOTHING if size is None else f"{size / _GIB:.1f} GiB"


def metric(tag: str) -> ArmMetric | RequestMetric:
    """Give the metric of a tag: its header has the unit, its ``show`` the digits."""
    return next(m for m in METRICS if m.tag == tag)


def shown(tag: str, value: float | None) -> str:
    """Write a metric's value in the unit of its header."""
    return NOTHING if value is None else metric(tag).show(value)


def arm_value(tag: str, arm: ArmSummary) -> str:
    """Write an arm's single value."""
    return shown(tag, arm.values.get(tag))


def quantile(tag: str, found: Quantile | None) -> str:
    """Write a percentile with its interval, in the unit of the metric's header."""
    if found is None:
        return NOTHING
    if found.interval is None:
        return f"{shown(tag, found.value)} (no interval)"
    low, high = (shown(tag, end) for end in found.interval)
    return f"{shown(tag, found.value)} [{low}, {high}]"


def length_and_rate(found: Acceptance | None) -> str:
    """Write acceptance length and rate, or that the engine does not tell."""
    if found is None:
        return "not told"
    if found.rate is None:
        return "nothing drafted"
    return f"length {decimal(found.length)}, rate {percent(found.rate)}"


def same_output(found: Outputs) -> str:
    """Write for how many prompts both arms gave the same."""
    if found.identical is None:
        return "sampled, not compared"
    texts = " texts" if found.by == "text" else ""
    return f"{found.identical}/{found.prompts}{texts}"


def short_hashes(text: str) -> str:
    """Cut hashes to twelve digits."""
    return _LONG_HEX.sub(lambda found: found[0][:_SHORT] + "…", text)


def value_text(value: object) -> str:
    """Write a recorded condition: null as not known, true as yes, lists in a row."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{k} {value_text(v)}" for k, v in value.items()) or NOTHING
    if isinstance(value, list | tuple):
        return ", ".join(map(value_text, value)) or NOTHING
    return str(value)
