"""Whether the arms said the same, and where they part."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.bench.cells import Cell, Comparison
from trtspec.report import numbers
from trtspec.report.document import Block, Details, Section, Table, Text
from trtspec.report.view import RunView

_MOST = 50
"""Differences that are listed per load and candidate."""
_LEAD = (
    "Output of block 1, compared prompt by prompt, and each arm with itself over its "
    "blocks. In reduced precision a near tie between two tokens may come out either "
    "way: a difference is not yet an error, and identity here is not yet a proof; "
    "trtspec verify tests that."
)
_ALIKE = (
    "Under every load every candidate gave the same output as off for all prompts, and "
    "every arm repeated its own in all blocks."
)


def outputs_section(view: RunView) -> Section | None:
    """Count and list; None without a comparison."""
    compared = [cell for cell in view.measured if cell.comparisons]
    if not compared:
        return None
    rows = [row for cell in compared for row in _rows(cell)]
    columns = (
        "load",
        "candidate",
        "same output",
        "off repeats itself",
        "candidate repeats itself",
    )
    table = Table(columns, tuple(rows), 3)
    blocks: list[Block] = [Text(_LEAD)]
    if all(
        _unanimous(found) for cell in compared for found in cell.comparisons.values()
    ):
        blocks += [Text(_ALIKE), Details("Counts", (table,))]
    else:
        blocks.append(table)
    if differing := [row for cell in compared for row in _differences(cell)]:
        named = ("load", "candidate", "prompt", "at", "off", "candidate's")
        total = sum(
            len(found.outputs.differences)
            for cell in compared
            for found in cell.comparisons.values()
        )
        of = f" of {total}" if total > len(differing) else ""
        blocks.append(
            Details(
                f"Where they first differ ({len(differing)}{of})",
                (Table(named, tuple(differing), 3),),
            )
        )
    return Section("Same output", tuple(blocks))


def _unanimous(found: Comparison) -> bool:
    of = found.outputs
    counts = {of.identical, of.off_repeats, of.on_repeats}
    return counts == {of.prompts} and not found.lossy


def _rows(cell: Cell) -> Iterator[tuple[str, ...]]:
    for name, comparison in cell.comparisons.items():
        of = comparison.outputs
        yield (
            cell.load.words,
            name,
            numbers.same_output(of) + (" (LOSSY)" if comparison.lossy else ""),
            f"{of.off_repeats}/{of.prompts}",
            f"{of.on_repeats}/{of.prompts}",
        )


def _differences(cell: Cell) -> Iterator[tuple[str, ...]]:
    for name, comparison in cell.comparisons.items():
        for difference in comparison.outputs.differences[:_MOST]:
            yield (
                cell.load.words,
                name,
                difference.prompt_id,
                numbers.count(difference.position),
                _token(difference.off),
                _token(difference.on),
            )


def _token(found: int | str | None) -> str:
    if found is None:
        return "ended"
    return str(found) if isinstance(found, int) else repr(found)
