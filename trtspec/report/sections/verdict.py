"""What may be said of each candidate under each load, and what takes a claim away."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trtspec.bench.cells import BreakEven, Cell, Comparison, Doubt
from trtspec.bench.sentences import break_even_text, warning_lines
from trtspec.report.document import (
    Block,
    Headline,
    LoadVerdicts,
    Note,
    Section,
    Table,
    Text,
    Verdicts,
)
from trtspec.report.sections.overall import overall
from trtspec.report.sections.verdict_rows import COLUMNS, table_row, taken, verdict_row
from trtspec.report.sections.words import headline
from trtspec.report.speed import speed_name
from trtspec.report.view import RunView

_EACH = "each candidate"
"""Stands for the name of a candidate where all have the same doubt of themselves."""


def verdict_section(view: RunView) -> Section:
    """Say first what the measurement carries."""
    notes = tuple(_notes(view))
    blocks: list[Block] = [note for note in notes if note.tone != "info"]
    if view.candidates and view.plan.baseline:
        if said := overall(view.cells, [arm.name for arm in view.candidates]):
            blocks.append(Text(said))
        blocks += [note for note in notes if note.tone == "info"]
        blocks.append(_verdicts(view))
    else:
        blocks.append(
            Text("There is no off arm beside a candidate: nothing to compare.")
        )
    return Section("Verdict", tuple(blocks))


def _verdicts(view: RunView) -> Verdicts:
    names = [arm.name for arm in view.candidates]
    told = {name: _told(view, name) for name in names}
    return Verdicts(
        headlines=tuple(
            Headline(name, headline(view.cells, name), _break_evens(view, name))
            for name in names
        ),
        loads=tuple(
            LoadVerdicts(
                cell.load.words,
                tuple(verdict_row(cell, view.keys[name], told[name]) for name in names),
                speed_name(cell.load),
            )
            for cell in view.cells
        ),
        table=Table.of(
            COLUMNS,
            [
                table_row(cell, name, [d for d in told[name] if not d.fatal])
                for cell in view.cells
                for name in names
            ],
            words=3,
            last=2,
        ),
    )


def _break_evens(view: RunView, name: str) -> str:
    """Say the candidate's break-even, of each category that has its own ladder."""
    said = []
    for category in dict.fromkeys(cell.load.category for cell in view.cells):
        key = f"{name}, {category}" if category else name
        if found := view.result.break_even.get(key):
            text = break_even_text(found)
            text += _open_end(
                found, [c for c in view.cells if c.load.category == category]
            )
            said.append(f"{category}: {text}" if category else text)
    return f"Break-even: {'; '.join(said)}." if said else ""


def _open_end(found: BreakEven, cells: Sequence[Cell]) -> str:
    """Say that an interval which ends where the ladder does may go on beyond it."""
    rungs = [cell.load.concurrency for cell in cells if cell.load.concurrency]
    if found.kind == "no claim" or found.interval is None or not rungs:
        return ""
    low, high = found.interval
    ends = [min(rungs)] if low <= min(rungs) else []
    ends += [max(rungs)] if high >= max(rungs) else []
    if not ends:
        return ""
    named = " and ".join(map(str, ends))
    return f"; the ladder ends at {named}, so it may lie beyond"


def _notes(view: RunView) -> Iterator[Note]:
    """Give what makes the whole run doubtful, each once."""
    if view.result.partial:
        yield Note("warning", _partial_text(view))
    told = tuple({doubt.what for c in _comparisons(view) for doubt in c.doubts})
    for line in warning_lines(view.result):
        text = line.removeprefix("warning: ")
        if not text.startswith("partial:") and not text.endswith(told):
            yield Note("warning", f"{text[:1].upper()}{text[1:]}.")
    for doubt in _common_doubts(view):
        yield Note(
            "warning" if doubt.fatal else "info", f"{taken(doubt)}: {doubt.what}"
        )
    for arm in view.candidates:
        if reasons := sorted(_lossy_reasons(view, arm.name)):
            yield Note("lossy", f"{arm.name} is LOSSY: {'; '.join(reasons)}.")


def _partial_text(view: RunView) -> str:
    wanted = view.plan.settings.repeats
    have = ", ".join(f"{c.blocks} of {wanted} at {c.load.words}" for c in view.cells)
    return (
        f"Partial: the run ended before all its blocks ran. Whole rounds: {have}. "
        "trtspec bench --resume RUN goes on with the rest."
    )


def _comparisons(view: RunView) -> list[Comparison]:
    return [c for cell in view.cells for c in cell.comparisons.values()]


def _common_doubts(view: RunView) -> tuple[Doubt, ...]:
    """Give the doubts of every comparison, if there are several: they are told once.

    Those that every candidate has of itself are one doubt of all.
    """
    found = [
        [_of_each(view, name, doubt) for doubt in comparison.doubts]
        for cell in view.cells
        for name, comparison in cell.comparisons.items()
    ]
    if len(found) < 2:
        return ()
    return tuple(d for d in found[0] if all(d in others for others in found[1:]))


def _of_each(view: RunView, name: str, doubt: Doubt) -> Doubt:
    if len(view.candidates) < 2:
        return doubt
    what = re.sub(rf"arm {re.escape(name)}(?![\w-])", _EACH, doubt.what)
    return doubt.model_copy(update={"what": what})


def _told(view: RunView, name: str) -> tuple[Doubt, ...]:
    """Give a candidate's doubts that stand above, as its comparisons have them."""
    common = _common_doubts(view)
    return tuple(
        dict.fromkeys(
            doubt
            for cell in view.cells
            for doubt in _doubts_under(cell, name)
            if _of_each(view, name, doubt) in common
        )
    )


def _doubts_under(cell: Cell, name: str) -> tuple[Doubt, ...]:
    comparison = cell.comparisons.get(name)
    return comparison.doubts if comparison else ()


def _lossy_reasons(view: RunView, name: str) -> set[str]:
    found = (cell.comparisons.get(name) for cell in view.cells)
    return {comparison.lossy for comparison in found if comparison and comparison.lossy}
