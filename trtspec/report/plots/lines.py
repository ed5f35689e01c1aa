"""Points with intervals, joined by a line per series: the ladder, and positions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

from trtspec.report.plots.frame import Frame, Ticks
from trtspec.report.plots.scale import Scale, log_padded, padded, tick_text
from trtspec.report.plots.svg import Key, element, figure, line, marker, path, text

_APART = 7.0
"""Most space between points of two series at the same place."""
_CAP = 3.0


class Point(NamedTuple):
    """One value with its interval."""

    x: float
    y: float
    interval: tuple[float, float] | None
    tip: str


class Series(NamedTuple):
    """A line: its points in order of x."""

    key: Key
    points: tuple[Point, ...]


class Band(NamedTuple):
    """An interval on the x axis: that of a break-even."""

    key: Key
    low: float
    high: float
    tip: str


@dataclass(frozen=True, slots=True)
class LinePlot:
    """What is drawn; ``ticks`` are those of the x axis.

    :param reference: a horizontal line, such as 1 for a ratio, and what it says.
    :param share: whether y goes from 0 to 1, in percent.
    :param from_zero: whether y begins at 0.
    :param ghosts: series that are drawn faintly, and share the axes.
    """

    title: str
    description: str
    titles: tuple[str, str]
    ticks: Ticks
    series: tuple[Series, ...]
    log_x: bool = False
    log_y: bool = False
    reference: tuple[float, str] | None = None
    share: bool = False
    from_zero: bool = False
    bands: tuple[Band, ...] = ()
    ghosts: tuple[Series, ...] = ()
    size: tuple[float, float] = field(default=(420, 280))

    @property
    def width(self) -> float:
        """Width in units of about a pixel."""
        return self.size[0]


def draw_lines(plot: LinePlot, name: str) -> str:
    """Draw it."""
    frame = Frame(*plot.size)
    x, y = _x_scale(plot, frame), _y_scale(plot, frame)
    show = _percent if plot.share else tick_text
    y_ticks = [(t, show(t)) for t in y.ticks()]
    body = [
        frame.axes(x, y, (plot.ticks, y_ticks), plot.titles),
        *_bands(plot, x, y),
    ]
    if plot.reference:
        body.append(_reference(plot.reference, y, frame))
    for series in plot.ghosts:
        body.append(path([(x(p.x), y(p.y)) for p in series.points], "line ghost"))
    spread = _spread(len(plot.series))
    for series, shift in zip(plot.series, spread, strict=True):
        body.append(_series(series, x, y, shift))
    return figure(name, plot.title, plot.description, frame.size, *body)


def _percent(value: float) -> str:
    return f"{value:.0%}"


def _x_scale(plot: LinePlot, frame: Frame) -> Scale:
    values = [value for value, _ in plot.ticks]
    pad = log_padded if plot.log_x else padded
    low, high = pad(values, 0.1)
    return Scale(low, high, *frame.across, plot.log_x)


def _y_scale(plot: LinePlot, frame: Frame) -> Scale:
    if plot.share:
        return Scale(0, 1, *frame.upwards)
    points = [p for s in (*plot.series, *plot.ghosts) for p in s.points]
    values = [v for p in points for v in (p.y, *(p.interval or ()))]
    values += [plot.reference[0]] if plot.reference else []
    low, high = (log_padded if plot.log_y else padded)(values)
    return Scale(0 if plot.from_zero else low, high, *frame.upwards, plot.log_y)


def _spread(count: int) -> list[float]:
    """Move the points of each series aside, so that intervals do not cover another."""
    apart = min(_APART, 36 / max(count, 1))
    return [(i - (count - 1) / 2) * apart for i in range(count)]


def _bands(plot: LinePlot, x: Scale, y: Scale) -> Iterator[str]:
    """Draw the bands along the line of reference, beside one another."""
    if plot.reference is None:
        return
    at = y(plot.reference[0])
    for band, shift in zip(plot.bands, _spread(len(plot.bands)), strict=True):
        left, right = (min(max(x(v), x.start), x.end) for v in (band.low, band.high))
        yield element(
            "line",
            element("title", escape(f"{band.key.name}, {band.tip}")),
            x1=left,
            y1=at + shift,
            x2=right,
            y2=at + shift,
            class_=f"band {band.key.css}",
        )


def _reference(reference: tuple[float, str], y: Scale, frame: Frame) -> str:
    value, label = reference
    left, right = frame.across
    return line(left, y(value), right, y(value), "reference") + text(
        label, left + 3, y(value) - 5, "tick strong"
    )


def _series(series: Series, x: Scale, y: Scale, shift: float) -> str:
    key = series.key
    places = [(x(p.x) + shift, y(p.y)) for p in series.points]
    dashed = " dashed" if key.dashed else ""
    parts = [path(places, f"line {key.css}{dashed}")] if len(places) > 1 else []
    parts += [
        _whisker(at, point.interval, y, key)
        for (at, _), point in zip(places, series.points, strict=True)
        if point.interval
    ]
    parts += [
        marker(key, *place, f"{key.name}, {point.tip}")
        for place, point in zip(places, series.points, strict=True)
    ]
    return element("g", *parts)


def _whisker(at: float, interval: Sequence[float], y: Scale, key: Key) -> str:
    low, high = (y(value) for value in interval)
    css = f"whisker {key.css}"
    return (
        line(at, low, at, high, css)
        + line(at - _CAP, low, at + _CAP, low, css)
        + line(at - _CAP, high, at + _CAP, high, css)
    )
