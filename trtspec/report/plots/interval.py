"""Where a ratio lies against 1: a dot and its interval, on an axis that rows share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from html import escape

from trtspec.bench.ratio import Ratio
from trtspec.report.plots.scale import Scale, linear_ticks
from trtspec.report.plots.svg import element, line, text

WIDTH, HEIGHT = 300.0, 26.0
_EDGE = 14.0
_LEAST = math.log(1.1)
"""Half-width of the axis at least: small differences are not blown up."""


def shared_scale(ratios: Iterable[Ratio | None]) -> Scale:
    """Give a logarithmic axis around 1 that holds every interval."""
    found = [r for r in ratios if r is not None]
    ends = [v for r in found for v in (r.estimate, *(r.interval or ()))]
    low = min((math.log(v) for v in ends), default=0.0)
    high = max((math.log(v) for v in ends), default=0.0)
    air = max(high - low, _LEAST) * 0.06
    low, high = min(low - air, -_LEAST / 2), max(high + air, _LEAST / 2)
    return Scale(math.exp(low), math.exp(high), _EDGE, WIDTH - _EDGE, log=True)


def draw_interval(ratio: Ratio | None, scale: Scale, css: str, tip: str) -> str:
    """Draw one row.

    :param css: class that carries the colour: that of the verdict's word.
    """
    middle = HEIGHT / 2
    one = scale(1.0)
    body = [line(one, 0, one, HEIGHT, "reference")]
    if ratio is not None:
        if ratio.interval:
            low, high = (scale(v) for v in ratio.interval)
            body.append(line(low, middle, high, middle, f"range {css}"))
        body.append(
            element(
                "circle",
                cx=scale(ratio.estimate),
                cy=middle,
                r=5,
                class_=f"marker {css}",
            )
        )
    return _drawing(tip, HEIGHT, body)


def draw_axis(scale: Scale) -> str:
    """Draw the ticks that all rows share."""
    ticks = _ticks(scale)
    body = [text(f"{t:g}×", scale(t), 11, "tick", "middle") for t in ticks]
    return _drawing("axis of the ratio to off", 16, body)


def _ticks(scale: Scale) -> list[float]:
    """Give 1, and round values that leave space around it."""
    chosen = [1.0]
    for tick in [*scale.ticks(4), *linear_ticks(scale.low, scale.high, 4)]:
        if all(abs(scale(tick) - scale(other)) > 34 for other in chosen):
            chosen.append(tick)
    return sorted(chosen)


def _drawing(title: str, height: float, body: list[str]) -> str:
    return element(
        "svg",
        element("title", escape(title)),
        *body,
        viewBox=f"0 0 {WIDTH:g} {height:g}",
        role="img",
        class_="interval",
    )
