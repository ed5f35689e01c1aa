"""What a surface looks like: a cell per place, tinted by how far it lies from 1."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from math import log
from typing import NamedTuple

from trtspec.report.plots.svg import element, figure, line, text

_LEFT, _RIGHT = 34.0, 8.0
_HEAD, _FOOT = 40.0, 38.0
_SHORTEST, _TALLEST = 24.0, 44.0
_BODY = 202.0
"""Height of all rows together, as far as their own limits allow."""
_GAP = 1.5
_LEAST = log(1.1)
"""What the strongest tint stands for at least: small differences are not blown up."""
_STRONGEST, _FAINTEST = 0.6, 0.07
_TEXT = 30.0
"""Narrowest cell that a number is written into."""


class Heat(NamedTuple):
    """One cell.

    :ivar ratio: above 1 it is tinted as a gain, below as a loss.
    :ivar shown: written into it, if there is space.
    :ivar marked: whether it is outlined: what was chosen.
    """

    ratio: float
    shown: str
    tip: str
    marked: bool = False


class Place(NamedTuple):
    """A rectangle on the paper."""

    left: float
    top: float
    width: float
    height: float

    @property
    def baseline(self) -> float:
        """Where text within it stands."""
        return self.top + self.height / 2 + 4


@dataclass(frozen=True, slots=True)
class HeatMap:
    """What is drawn.

    :param titles: below the columns, and above all.
    :param rows: label and cells, from below.
    :param limit: columns that a vertical line stands behind, with a share of the next
        one, and what it says: the break-even.
    """

    title: str
    description: str
    titles: tuple[str, str]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Heat, ...]], ...]
    limit: tuple[float, str] | None = None
    width: float = field(default=430)

    @property
    def column(self) -> float:
        """Width of a column."""
        return (self.width - _LEFT - _RIGHT) / len(self.columns)

    @property
    def row(self) -> float:
        """Height of a row."""
        return min(max(_BODY / len(self.rows), _SHORTEST), _TALLEST)

    @property
    def floor(self) -> float:
        """Where the lowest row ends."""
        return _HEAD + self.row * len(self.rows)

    def place(self, column: int, row: int) -> Place:
        """Give where a cell lies; rows count from below."""
        left = _LEFT + column * self.column
        return Place(left, self.floor - (row + 1) * self.row, self.column, self.row)


def draw_heat(plot: HeatMap, name: str) -> str:
    """Draw it."""
    most = max(abs(log(cell.ratio)) for _, cells in plot.rows for cell in cells)
    body = [text(plot.titles[1], 2, 16, "label")]
    marked = []
    for row, (label, cells) in enumerate(plot.rows):
        at = plot.place(0, row).baseline
        body.append(text(label, _LEFT - 8, at, "tick", "end"))
        for column, cell in enumerate(cells):
            place = plot.place(column, row)
            body.append(_cell(cell, place, max(most, _LEAST)))
            if cell.marked:  # above the neighbours
                marked.append(_rectangle(place, class_="chosen"))
    for column, label in enumerate(plot.columns):
        middle = _LEFT + (column + 0.5) * plot.column
        body.append(text(label, middle, plot.floor + 16, "tick", "middle"))
    right = plot.width - _RIGHT
    body.append(text(plot.titles[0], right, plot.floor + 32, "axis-title", "end"))
    size = (plot.width, plot.floor + _FOOT)
    return figure(name, plot.title, plot.description, size, *body, *marked, _end(plot))


def _cell(cell: Heat, place: Place, most: float) -> str:
    away = log(cell.ratio) / most
    css = "up" if away > 0 else "down" if away < 0 else "even"
    opacity = _FAINTEST + (_STRONGEST - _FAINTEST) * abs(away)
    parts = [
        element("title", escape(cell.tip)),
        _rectangle(place, class_=f"heat {css}", fill_opacity=opacity),
    ]
    if place.width >= _TEXT:
        css = "label" if cell.marked else "tick strong"
        middle = place.left + place.width / 2
        parts.append(text(cell.shown, middle, place.baseline, css, "middle"))
    return element("g", *parts)


def _rectangle(place: Place, **given: str | float) -> str:
    return element(
        "rect",
        x=place.left + _GAP,
        y=place.top + _GAP,
        width=place.width - 2 * _GAP,
        height=place.height - 2 * _GAP,
        rx=3,
        **given,
    )


def _end(plot: HeatMap) -> str:
    """Draw the line behind which drafting does not pay, and say so above it."""
    if plot.limit is None:
        return ""
    place, label = plot.limit
    at = _LEFT + place * plot.column
    anchor = "end" if at > plot.width / 2 else "start"
    aside = -5 if anchor == "end" else 5
    return line(at, _HEAD - 12, at, plot.floor, "reference") + text(
        label, at + aside, _HEAD - 5, "tick", anchor
    )
