"""How ``trtspec inspect`` reads on a terminal."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from trtspec.models.inspection_services import needs, services

if TYPE_CHECKING:
    from packaging.version import Version

    from trtspec.cli.inspecting import Part
    from trtspec.methods.catalogue import Place
    from trtspec.models.inspection import Inspection
    from trtspec.models.inspection_fit import Fit

_WIDEST = 88
_LABEL_WIDTH = 20
_COLOURS = {
    "exact": "green", "greedy": "yellow", "lossy": "red", "-": "bright_black",
    "fits": "green", "differs": "yellow", "refused": "red",
}  # fmt: skip


def lines(
    parts: Sequence[Part],
    found: Sequence[Sequence[Fit]],
    places: Sequence[Place],
    version: Version | None,
) -> Iterator[str]:
    """Lay out what was found: the facts, whether it fits, what it serves and needs."""
    for number, (part, fit) in enumerate(zip(parts, found, strict=True)):
        if number:
            yield ""
        name = f"{part.name}: " if part.name else ""
        inspection = part.inspection
        yield click.style(name + inspection.title, bold=True)
        if inspection.directory is not None:
            yield from _labelled("directory", str(inspection.directory))
        yield from _labelled("told by", inspection.told_by)
        for fact in inspection.facts:
            yield from _labelled(fact.key.replace("_", " "), fact.text)
        if fit:
            yield ""
            yield click.style("against the target", bold=True)
            for one in fit:
                word = click.style(one.verdict, fg=_COLOURS[one.verdict])
                yield from _labelled(one.key.replace("_", " "), f"{word}: {one.text}")
        yield from _services(inspection, places)
        yield from _needs(inspection, version)


def _labelled(label: str, text: str) -> list[str]:
    width = min(shutil.get_terminal_size().columns, _WIDEST)
    return textwrap.wrap(
        text,
        max(width, 2 * _LABEL_WIDTH),
        initial_indent=f"  {label:<{_LABEL_WIDTH - 2}} ",
        subsequent_indent=" " * (_LABEL_WIDTH + 1),
        break_long_words=False,
        break_on_hyphens=False,
    ) or [f"  {label}"]


def _services(inspection: Inspection, places: Sequence[Place]) -> Iterator[str]:
    """Lay out a method per row, and where its output is exact per place."""
    rows = services(inspection, places)
    if not rows:
        return
    yield ""
    once = ", once it is whole" if inspection.problems else ""
    yield click.style(f"serves{once}", bold=True)
    heads = [place.family or place.backend for place in places]
    label = "as, with method"
    names = [f"{row.role}, {row.method}" for row in rows]
    first = max(map(len, (label, *names)))
    yield f"  {label:<{first}}  {'  '.join(f'{head:<9}' for head in heads)}".rstrip()
    for name, row in zip(names, rows, strict=True):
        words = (standing.word for standing in row.standings)
        cells = [click.style(w, fg=_COLOURS[w]) + " " * (9 - len(w)) for w in words]
        yield f"  {name:<{first}}  {'  '.join(cells)}".rstrip()
    for backend, why in rows[0].unread.items():
        yield from _labelled(f"not {backend}", why)


def _needs(inspection: Inspection, version: Version | None) -> Iterator[str]:
    found = needs(inspection, version)
    if not found:
        return
    yield ""
    release = f"TensorRT-LLM {version}" if version else "TensorRT-LLM"
    yield click.style(f"what {release} needs", bold=True)
    for need in found:
        yield from textwrap.wrap(
            need.what, _WIDEST, initial_indent="  ", subsequent_indent="  "
        )
        if need.snippet:
            yield f"    in {need.where}:"
            yield textwrap.indent(need.snippet, " " * 6)
