"""How groups compare: a row per group, a dot per series, on an axis that rows share."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from trtspec.report.plots.scale import Scale, padded, tick_text
from trtspec.report.plots.svg import Key, element, figure, line, marker, text

_ROW = 38.0
_HEAD, _FOOT = 26.0, 36.0
_EDGE = 12.0


class Dot(NamedTuple):
    """One value of a row."""

    key: Key
    value: float
    tip: str


class DotRow(NamedTuple):
    """A group and its values."""

    label: str
    dots: tuple[Dot, ...]


@dataclass(frozen=True, slots=True)
class DotRows:
    """What is drawn.

    :param least: where the axis begins at the latest.
    """

    title: str
    description: str
    heading: str
    x_title: str
    rows: tuple[DotRow, ...]
    least: float
    width: float = field(default=340)


def draw_dots(plot: DotRows, name: str) -> str:
    """Draw it."""
    values = [plot.least, *(dot.value for row in plot.rows for dot in row.dots)]
    low, high = padded(values, 0.03)
    x = Scale(low, high, _EDGE, plot.width - _EDGE)
    floor = _HEAD + len(plot.rows) * _ROW
    body = [text(plot.heading, 2, 14, "label")]
    for tick in x.ticks():
        body.append(line(x(tick), _HEAD, x(tick), floor, "grid"))
        body.append(text(tick_text(tick), x(tick), floor + 14, "tick", "middle"))
    body.append(text(plot.x_title, plot.width - 2, floor + 30, "axis-title", "end"))
    for number, row in enumerate(plot.rows):
        body.append(_row(row, x, _HEAD + number * _ROW, plot.width))
    return figure(
        name, plot.title, plot.description, (plot.width, floor + _FOOT), *body
    )


def _row(row: DotRow, x: Scale, top: float, width: float) -> str:
    middle = top + 25
    return element(
        "g",
        text(row.label, 2, top + 13, "tick strong"),
        line(2, middle, width - 2, middle, "axis"),
        *(
            marker(dot.key, x(dot.value), middle, f"{dot.key.name}, {dot.tip}")
            for dot in row.dots
        ),
    )
