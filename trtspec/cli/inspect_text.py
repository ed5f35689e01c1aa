"""How ``trtspec inspect`` reads on a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from trtspec.cli.paragraph import paragraph
from trtspec.models.inspection_services import Service, needs, services

if TYPE_CHECKING:
    from packaging.version import Version

    from trtspec.cli.inspect_scope import Scope
    from trtspec.cli.inspecting import Part
    from trtspec.models.inspection import Inspection
    from trtspec.models.inspection_fit import Comparison

_LABEL_WIDTH = 20
_COLOURS = {
    "exact": "green", "greedy": "yellow", "lossy": "red", "-": "bright_black",
    "fits": "green", "note": "cyan", "differs": "yellow", "refused": "red",
}  # fmt: skip


def lines(
    parts: Sequence[Part], compared: Sequence[Comparison], scope: Scope
) -> Iterator[str]:
    """Lay out what was found: the facts, whether it fits, what it serves and needs."""
    for number, (part, comparison) in enumerate(zip(parts, compared, strict=True)):
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
        if comparison.fits:
            yield ""
            yield click.style("against the target", bold=True)
            for one in comparison.fits:
                word = click.style(one.verdict, fg=_COLOURS[one.verdict])
                yield from _labelled(one.key.replace("_", " "), f"{word}: {one.text}")
        yield from _services(inspection, scope)
        yield from _needs(inspection, scope.version)


def _labelled(label: str, text: str) -> list[str]:
    return paragraph(text, f"  {label:<{_LABEL_WIDTH - 2}} ")


def _services(inspection: Inspection, scope: Scope) -> Iterator[str]:
    """Lay out a method per row, and where its output is exact per place."""
    places = scope.places
    rows = services(inspection, places, scope.families, scope.target)
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
    yield from _unread(rows)


def _unread(rows: Sequence[Service]) -> Iterator[str]:
    """Say each reason once, with the methods that it holds for unless it is all."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        for reason in row.unread.items():
            reasons.setdefault(reason, []).append(row.method)
    for (backend, why), methods in reasons.items():
        some = "" if len(methods) == len(rows) else f"with {', '.join(methods)}: "
        yield from _labelled(f"not {backend}", some + why)


def _needs(inspection: Inspection, version: Version | None) -> Iterator[str]:
    found = needs(inspection, version)
    if not found:
        return
    yield ""
    release = f"TensorRT-LLM {version}" if version else "TensorRT-LLM"
    yield click.style(f"what {release} needs", bold=True)
    for need in found:
        yield from paragraph(need.what, "  ")
        if need.snippet:
            yield f"    in {need.where}:"
            yield textwrap.indent(need.snippet, " " * 6)
