"""How SVG elements are written: numbers short, text escaped, colours left to CSS."""

from __future__ import annotations

from html import escape
from typing import NamedTuple

SHAPES = 4
"""Shapes of markers that tell series apart without colour."""
COLOURS = 8
"""Colours of the style sheet for candidates: s1 to s8; s0 is the baseline's."""

_CORNERS: dict[int, list[tuple[float, float]]] = {
    1: [(-1, -1), (1, -1), (1, 1), (-1, 1)],
    2: [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
    3: [(0, -1.2), (1.15, 0.9), (-1.15, 0.9)],
}
"""Of square, diamond and triangle; shape 0 is a circle."""


class Key(NamedTuple):
    """A series as the legend shows it.

    :ivar series: 0 for the baseline, from 1 for candidates.
    :ivar dashed: whether its line is broken: the control's.
    """

    name: str
    series: int
    dashed: bool = False

    @property
    def css(self) -> str:
        """Class that carries the colour."""
        if self.series == 0:
            return "s0"
        return f"s{(self.series - 1) % COLOURS + 1}"


def number(value: float) -> str:
    """Write a coordinate with two decimals at most."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def element(tag: str, *children: str, **attributes: str | float) -> str:
    """Write an element.

    :param children: elements or escaped text.
    :param attributes: a name's trailing underscore is dropped, others become hyphens.
    """
    written = "".join(
        f' {_attribute(name)}="{_value(value)}"' for name, value in attributes.items()
    )
    if not children:
        return f"<{tag}{written}/>"
    return f"<{tag}{written}>{''.join(children)}</{tag}>"


def _attribute(name: str) -> str:
    if name == "viewBox":
        return name
    return name.rstrip("_").replace("_", "-")


def _value(value: str | float) -> str:
    return escape(value) if isinstance(value, str) else number(value)


def text(content: str, x: float, y: float, css: str, anchor: str = "start") -> str:
    """Write a line of text."""
    return element("text", escape(content), x=x, y=y, class_=css, text_anchor=anchor)


def line(x1: float, y1: float, x2: float, y2: float, css: str) -> str:
    """Draw a straight line."""
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=css)


def path(points: list[tuple[float, float]], css: str) -> str:
    """Draw a line through points."""
    steps = "L".join(f"{number(x)} {number(y)}" for x, y in points)
    return element("path", d=f"M{steps}", class_=css)


def marker(key: Key, x: float, y: float, tip: str, radius: float = 4.0) -> str:
    """Draw a point of a series in its shape; ``tip`` shows under the pointer."""
    css = f"marker {key.css}"
    title = element("title", escape(tip))
    shape = _shape(key.series)
    if shape == 0:
        return element("circle", title, cx=x, cy=y, r=radius, class_=css)
    scale = radius * 0.95
    points = " ".join(
        f"{number(x + a * scale)},{number(y + b * scale)}" for a, b in _CORNERS[shape]
    )
    return element("polygon", title, points=points, class_=css)


def _shape(series: int) -> int:
    """Give a series' shape; two that share a colour differ in it."""
    index = max(series - 1, 0)
    return (index + index // COLOURS) % SHAPES


def figure(
    name: str, title: str, description: str, size: tuple[float, float], *body: str
) -> str:
    """Wrap a drawing with the title and description that a screen reader says.

    :param name: unique on the page.
    :param size: width and height in units of about a pixel.
    """
    width, height = size
    return element(
        "svg",
        element("title", escape(title), id=f"{name}-title"),
        element("desc", escape(description), id=f"{name}-desc"),
        *body,
        viewBox=f"0 0 {number(width)} {number(height)}",
        role="img",
        aria_labelledby=f"{name}-title {name}-desc",
        class_="plot",
    )
