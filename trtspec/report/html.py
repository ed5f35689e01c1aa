"""How a report becomes one HTML page that loads nothing and runs no script."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from trtspec.bench.ratio import Ratio
from trtspec.report import numbers
from trtspec.report.document import Document, Verdicts
from trtspec.report.plots import Plot, draw
from trtspec.report.plots.interval import draw_axis, draw_interval, shared_scale
from trtspec.report.plots.scale import Scale
from trtspec.report.plots.svg import Key, element, line, marker

WORDS = {
    "faster": ("good", "▲"),
    "slower": ("bad", "▼"),
    "no difference": ("same", "="),
    "no claim": ("none", "?"),
    "failed": ("fail", "✕"),
    "not measured": ("none", "·"),
}
"""Colour class and sign of each verdict's word."""


def to_html(document: Document) -> str:
    """Write the whole page; every text in it is escaped."""
    environment = Environment(
        loader=PackageLoader("trtspec.report", "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.globals |= {
        "draw": _drawer(),
        "key_svg": _key,
        "words": WORDS,
        "times": numbers.times,
        "ends": lambda ratio: numbers.interval(ratio.interval),
    }
    environment.filters |= {"scale": _scale, "interval": _interval, "axis": _axis}
    page = environment.get_template("page.html.j2")
    return page.render(document=document, style=_safe(_style(environment)))


def _safe(text: str) -> Markup:
    """Mark what this package made, with all names in it escaped, as no text."""
    return Markup(text)  # noqa: S704


def _style(environment: Environment) -> str:
    assert environment.loader is not None
    source, _, _ = environment.loader.get_source(environment, "style.css")
    return source


def _drawer() -> object:
    """Give a function that draws plots under ids that no other has."""
    ids = count(1)

    def drawn(plot: Plot) -> Markup:
        return _safe(draw(plot, f"plot-{next(ids)}"))

    return drawn


def _key(key: Key) -> Markup:
    """Draw what stands for an arm in a legend."""
    dashed = " dashed" if key.dashed else ""
    body = line(1, 7, 25, 7, f"line {key.css}{dashed}") + marker(key, 13, 7, key.name)
    return _safe(
        element("svg", body, viewBox="0 0 26 14", class_="key", aria_hidden="true")
    )


def _scale(verdicts: Verdicts) -> Scale:
    """Give the axis that all rows of a run share."""
    return shared_scale(_ratios(verdicts))


def _ratios(verdicts: Verdicts) -> Iterator[Ratio | None]:
    for load in verdicts.loads:
        for row in load.rows:
            yield row.speed


def _interval(ratio: Ratio | None, scale: Scale, css: str, tip: str) -> Markup:
    return _safe(draw_interval(ratio, scale, css, tip))


def _axis(scale: Scale) -> Markup:
    return _safe(draw_axis(scale))
