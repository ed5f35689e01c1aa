"""How ``trtspec methods`` reads on a terminal: the matrix, or all about one method."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import click

from trtspec.methods.catalogue import (
    METHODS,
    PLACES,
    Place,
    in_recipe,
    matrix,
    settings,
    standings,
)
from trtspec.methods.parameters import Parameter, parameters
from trtspec.trtllm.facts.families import family_ranges

if TYPE_CHECKING:
    from trtspec.methods.catalogue import Setting, Standing

_WIDEST = 80
_COLOURS = {"exact": "green", "greedy": "yellow", "lossy": "red", "-": "bright_black"}
_GAP = 2
_LEGEND = (
    "exact: greedy and sampled output are the target model's own, up to near ties. "
    "greedy: only greedy output is. lossy: neither is. -: it does not run there, or "
    "nothing is established. Below pytorch: families of releases."
)
_MORE = "trtspec methods NAME has its parameters, recipe lines and sources."


def matrix_lines() -> Iterator[str]:
    """Lay out what every method does to the output on every backend, and why."""
    yield from _table()
    for text in (_LEGEND, release_ranges(), _MORE):
        yield ""
        yield paragraph(text)
    yield ""
    yield click.style("why not exact", bold=True)
    for where, why in reasons():
        yield paragraph(where, 2)
        yield paragraph(why, 6)


def release_ranges() -> str:
    """Say which versions of TensorRT-LLM each family of releases is."""
    ranges = (f"{name}: {held}" for name, held in family_ranges().items())
    return f"Releases of backend pytorch: {'; '.join(ranges)}."


def paragraph(text: str, indent: int = 0) -> str:
    """Wrap a text to the width of the screen, at most 80 columns."""
    margin = " " * indent
    return textwrap.fill(
        text,
        min(shutil.get_terminal_size().columns, _WIDEST),
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _table() -> Iterator[str]:
    """Lay out a method per row, and below it the settings that differ from it."""
    body = [
        (f"  {row.label}" if row.label else row.name, row.words) for row in matrix()
    ]
    first = max(len(label) for label, _ in body)
    widths = [max(len(place.family or place.backend), 6) for place in PLACES]
    group = next(n for n, place in enumerate(PLACES) if place.family)
    widths[group] = len("pytorch")
    yield (
        " " * (first + _GAP + sum(width + _GAP for width in widths[:group])) + "pytorch"
    )
    heads = [place.family or place.backend for place in PLACES]
    yield _row("method".ljust(first), heads, widths)
    yield "─" * (first + sum(width + _GAP for width in widths))
    for label, words in body:
        yield _row(label.ljust(first), words, widths)


def _row(label: str, words: list[str], widths: list[int]) -> str:
    cells = [
        click.style(word, fg=_COLOURS.get(word)) + " " * (width - len(word))
        for word, width in zip(words, widths, strict=True)
    ]
    return (" " * _GAP).join([label, *cells]).rstrip()


def reasons() -> Iterator[tuple[str, str]]:
    """Give every reason why output is not exact, each after where it holds."""
    told: dict[str, dict[Place, list[str]]] = {}
    for row in matrix():
        shown = f"{row.name} ({row.label})" if row.label else row.name
        for standing in row.standings:
            for why in standing.reasons:
                named = told.setdefault(why, {}).setdefault(standing.place, [])
                if row.name not in named:  # else the method says it for its settings
                    named.append(shown)
    for why, by_place in told.items():
        for names, among in groupby(by_place.items(), key=lambda item: item[1]):
            yield f"{_places(place for place, _ in among)}: {', '.join(names)}", why


def _places(places: Iterable[Place]) -> str:
    """Name places, those of one backend together: "pytorch 1.0, 1.1"."""
    by_backend = groupby(places, key=lambda place: place.backend)
    return "; ".join(
        f"{backend} {', '.join(place.family for place in among)}".strip()
        for backend, among in by_backend
    )


def method_lines(name: str) -> Iterator[str]:
    """Lay out all about one method."""
    kind = METHODS[name]
    yield f"{click.style(name, bold=True)}: {kind.summary}"
    yield ""
    yield paragraph(f"drafts with: {kind.needs}")
    yield paragraph(f"tokens to verify per step and request: {kind.step}")
    if known := parameters(kind):
        yield ""
        yield click.style("parameters", bold=True)
        for parameter in known:
            yield paragraph(_signature(parameter), 2)
            yield paragraph(parameter.description, 6)
    made = settings(name)
    for setting in made:
        yield ""
        yield from _setting_lines(setting)
    standing = [one for setting in made for one in standings(setting.method)]
    if any(one.runs and one.place.family for one in standing):
        yield ""
        yield paragraph(release_ranges())


def _signature(parameter: Parameter) -> str:
    facts = [parameter.type, parameter.limits]
    if parameter.required:
        facts.append("required")
    elif parameter.default is None:
        facts.append("unset by default")
    else:
        facts.append(f"{in_recipe(parameter.default)} by default")
    return f"{parameter.name}: {'; '.join(filter(None, facts))}"


def _setting_lines(setting: Setting) -> Iterator[str]:
    tokens = setting.method.verified_tokens
    head = click.style(setting.label or "in a recipe", bold=True)
    yield f"{head} ({tokens} token{'s' if tokens > 1 else ''} per step)"
    yield "  speculation:"
    for key, value in setting.keys.items():
        yield f"    {key}: {in_recipe(value)}"
    running = (one for one in standings(setting.method) if one.runs)
    for _, alike in groupby(running, key=_said):
        yield from _standing_lines(list(alike))


def _said(standing: Standing) -> tuple[object, ...]:
    """Give what is said of a place; where it is the same, it is said once."""
    return standing.word, tuple(standing.reasons), standing.source


def _standing_lines(alike: list[Standing]) -> Iterator[str]:
    first = alike[0]
    word = click.style(first.word, fg=_COLOURS[first.word])
    yield f"  {_places(one.place for one in alike)}: {word}"
    for why in first.reasons:
        yield paragraph(why, 6)
    yield paragraph(f"source: {first.source}", 6)
