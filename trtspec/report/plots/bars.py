"""What a whole is made of: one stacked bar per row, with its parts named."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import NamedTuple

from trtspec.report.plots.scale import Scale, tick_text
from trtspec.report.plots.svg import element, figure, line, text

_ROW = 40.0
_BAR = 14.0
_FOOT = 36.0
_HEAD = 26.0


class Part(NamedTuple):
    """A part of a bar.

    :ivar css: class that carries its colour.
    """

    name: str
    css: str
    value: float
    shown: str


class Bar(NamedTuple):
    """A row: its label, what stands at the other end, and its parts from the left."""

    label: str
    remark: str
    parts: tuple[Part, ...]

    @property
    def total(self) -> float:
        """Length of the bar."""
        return sum(part.value for part in self.parts)


@dataclass(frozen=True, slots=True)
class StackedBars:
    """What is drawn; all bars begin at 0."""

    title: str
    description: str
    heading: str
    x_title: str
    bars: tuple[Bar, ...]
    width: float = field(default=340)


def draw_bars(plot: StackedBars, name: str) -> str:
    """Draw it."""
    longest = max((bar.total for bar in plot.bars), default=0) or 1.0
    x = Scale(0, longest, 2, plot.width - 2)
    floor = _HEAD + len(plot.bars) * _ROW
    body = [text(plot.heading, 2, 14, "label")]
    for tick in x.ticks(4):
        anchor = "start" if tick == 0 else "middle"
        if x(tick) > plot.width - 14:
            anchor = "end"
        body.append(line(x(tick), _HEAD, x(tick), floor, "grid"))
        body.append(text(tick_text(tick), x(tick), floor + 14, "tick", anchor))
    body.append(text(plot.x_title, plot.width - 2, floor + 30, "axis-title", "end"))
    for row, bar in enumerate(plot.bars):
        body.append(_bar(bar, x, _HEAD + row * _ROW, plot.width))
    return figure(
        name, plot.title, plot.description, (plot.width, floor + _FOOT), *body
    )


def _bar(bar: Bar, x: Scale, top: float, width: float) -> str:
    parts = [
        text(bar.label, 2, top + 13, "tick strong"),
        text(bar.remark, width - 2, top + 13, "tick", "end"),
    ]
    begun = 0.0
    for part in bar.parts:
        left, right = x(begun), x(begun + part.value)
        tip = element("title", escape(f"{bar.label}, {part.name}: {part.shown}"))
        parts.append(
            element(
                "rect",
                tip,
                x=left,
                y=top + 18,
                width=max(right - left, 0),
                height=_BAR,
                class_=f"part {part.css}",
            )
        )
        begun += part.value
    return element("g", *parts)
