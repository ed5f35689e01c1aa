"""Which share of requests was at least this fast: cumulative distributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from trtspec.report.plots.frame import Frame
from trtspec.report.plots.scale import Scale, log_padded, padded, tick_text
from trtspec.report.plots.svg import Key, figure, path

MOST_STEPS = 160
"""Of one line; beyond it the line goes through that many quantiles."""
WIDE = 12.0
"""Largest over smallest value from which on the x axis is logarithmic."""
_RANKS = (25, 50, 75, 95)


class Distribution(NamedTuple):
    """The values of one series."""

    key: Key
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class StepPlot:
    """What is drawn: one line per series."""

    title: str
    description: str
    heading: str
    series: tuple[Distribution, ...]
    size: tuple[float, float] = field(default=(340, 236))

    @property
    def width(self) -> float:
        """Width in units of about a pixel."""
        return self.size[0]


def draw_steps(plot: StepPlot, name: str) -> str:
    """Draw it."""
    frame = Frame(*plot.size, bottom=24)
    x, y = _x_scale(plot, frame), Scale(0, 1, *frame.upwards)
    x_ticks = [(t, tick_text(t)) for t in x.ticks(4)]
    y_ticks = [(rank / 100, f"p{rank}") for rank in _RANKS]
    titles = ("", plot.heading)
    body = [frame.axes(x, y, (x_ticks, y_ticks), titles)]
    for key, values in plot.series:
        points = [(x(value), y(share)) for value, share in staircase(values)]
        dashed = " dashed" if key.dashed else ""
        body.append(path(points, f"line steps {key.css}{dashed}"))
    return figure(name, plot.title, plot.description, frame.size, *body)


def _x_scale(plot: StepPlot, frame: Frame) -> Scale:
    values = [v for _, series in plot.series for v in series]
    log = min(values) > 0 and max(values) / min(values) > WIDE
    low, high = (log_padded if log else padded)(values, 0.03)
    return Scale(low if log else max(low, 0), high, *frame.across, log)


def staircase(values: Sequence[float]) -> list[tuple[float, float]]:
    """Give the corners of a cumulative distribution: value, share at or below it."""
    ordered = np.sort(np.asarray(values, dtype=float))
    count = len(ordered)
    if count > MOST_STEPS:
        shares = np.linspace(0, 1, MOST_STEPS)
        at = np.quantile(ordered, shares)
        return [(float(v), float(s)) for v, s in zip(at, shares, strict=True)]
    corners = [(float(ordered[0]), 0.0)]
    for i, value in enumerate(ordered):
        corners += [(float(value), i / count), (float(value), (i + 1) / count)]
    return corners
