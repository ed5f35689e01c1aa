"""How much differs by chance alone: off measured twice in the same rounds."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.bench.cells import Cell
from trtspec.bench.compare import THROUGHPUT
from trtspec.report import numbers
from trtspec.report.document import Block, Note, Section, Table, Text
from trtspec.report.view import RunView

_LEAD = (
    "The off arm ran twice in every round, so the true ratio of off again to off is 1. "
    "What it shows beside 1 is the machine. The smallest visible difference is the one "
    "that this many blocks and prompts would find in four of five runs."
)
_DIGITS = 3
_COLUMNS = (
    "load",
    "rounds",
    "smallest visible",
    "output throughput",
    "TTFT p50",
    "TPOT p50",
    "E2E p50",
)
_TAGS = (THROUGHPUT, "ttft.p50", "tpot.p50", "e2e.p50")
_APART = (
    "Off is visibly apart from itself here, so a candidate that is apart by as much "
    "shows nothing (of 20 such intervals about one leaves 1 out by chance)"
)


def control_section(view: RunView) -> Section | None:
    """Give the A/A comparison of each load."""
    if not view.measured or not any(cell.comparisons for cell in view.measured):
        return None
    rows = list(_rows(view))
    if not rows:
        text = (
            "Off was not run a second time (--no-control), so nothing tells how small "
            "a difference this run could see."
        )
        return Section("Control: off against off", (Note("info", text),))
    blocks: list[Block] = [Text(_LEAD), Table.of(_COLUMNS, rows)]
    if apart := [said for cell in view.measured for said in _apart(cell)]:
        blocks.append(Note("info", f"{_APART}: {'; '.join(apart)}."))
    return Section("Control: off against off", tuple(blocks))


def _rows(view: RunView) -> Iterator[tuple[str, ...]]:
    for cell in view.measured:
        if cell.control:
            yield _row(cell)


def _apart(cell: Cell) -> Iterator[str]:
    """Name the ratios of off again to off whose interval leaves 1 out."""
    if not cell.control:
        return
    for tag, column in zip(_TAGS, _COLUMNS[-len(_TAGS) :], strict=True):
        found = cell.control.comparison.ratios.get(tag)
        if found and found.interval and not found.interval[0] <= 1 <= found.interval[1]:
            yield f"{column} at {cell.load.words}"


def _row(cell: Cell) -> tuple[str, ...]:
    assert cell.control is not None
    comparison = cell.control.comparison
    return (
        cell.load.words,
        str(cell.blocks),
        numbers.percent(cell.control.visible),
        *(numbers.ratio(comparison.ratios.get(tag), _DIGITS) for tag in _TAGS),
    )
