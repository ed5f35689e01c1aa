"""What may be said of each candidate under each load, and what takes a claim away."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.bench.cells import Comparison, Doubt
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
from trtspec.report.sections.verdict_rows import COLUMNS, table_row, taken, verdict_row
from trtspec.report.sections.words import headline
from trtspec.report.speed import speed_name
from trtspec.report.view import RunView


def verdict_section(view: RunView) -> Section:
    """Say first what the measurement carries."""
    blocks: list[Block] = list(_notes(view))
    if view.candidates and view.plan.baseline:
        blocks.append(_verdicts(view))
    else:
        blocks.append(
            Text("There is no off arm beside a candidate: nothing to compare.")
        )
    return Section("Verdict", tuple(blocks))


def _verdicts(view: RunView) -> Verdicts:
    names = [arm.name for arm in view.candidates]
    told = _common_doubts(view)
    return Verdicts(
        headlines=tuple(
            Headline(name, headline(view.cells, name), _break_evens(view, name))
            for name in names
        ),
        loads=tuple(
            LoadVerdicts(
                cell.load.words,
                tuple(verdict_row(cell, view.keys[name], told) for name in names),
                speed_name(cell.load),
            )
            for cell in view.cells
        ),
        table=Table.of(
            COLUMNS,
            [table_row(cell, name) for cell in view.cells for name in names],
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
            said.append(f"{category}: {text}" if category else text)
    return f"Break-even: {'; '.join(said)}." if said else ""


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
    return f"Partial: the run ended before all its blocks ran. Whole rounds: {have}."


def _comparisons(view: RunView) -> list[Comparison]:
    return [c for cell in view.cells for c in cell.comparisons.values()]


def _common_doubts(view: RunView) -> tuple[Doubt, ...]:
    """Give the doubts of every comparison, if there are several: they are told once."""
    found = _comparisons(view)
    if len(found) < 2:
        return ()
    return tuple(d for d in found[0].doubts if all(d in c.doubts for c in found[1:]))


def _lossy_reasons(view: RunView, name: str) -> set[str]:
    found = (cell.comparisons.get(name) for cell in view.cells)
    return {comparison.lossy for comparison in found if comparison and comparison.lossy}
