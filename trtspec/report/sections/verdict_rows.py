"""What stands beside a verdict: ratios, acceptance, same output, and reasons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trtspec.bench.cells import Cell, Comparison, Doubt
from trtspec.bench.compare import THROUGHPUT
from trtspec.report import numbers
from trtspec.report.document import NoteKind, VerdictRow
from trtspec.report.plots.svg import Key
from trtspec.report.secrets import without_secrets
from trtspec.report.sections.words import word_of
from trtspec.report.speed import CLOSED, speed_of

COLUMNS = (
    "load",
    "candidate",
    "verdict",
    CLOSED,
    "E2E p50 / off",
    "E2E p95 / off",
    "E2E p99 / off",
    "acceptance length",
    "acceptance rate",
    "same output",
    "because",
)
"""Of a verdict as a row of a table."""

_RANKS = (50, 95, 99)

Remark = tuple[NoteKind, str]


def verdict_row(cell: Cell, key: Key, told: Sequence[Doubt]) -> VerdictRow:
    """Give one candidate under one load.

    :param told: doubts that stand above already; the fatal ones are named again.
    """
    comparison = cell.comparisons.get(key.name)
    word = word_of(cell, key.name)
    if comparison is None:
        return VerdictRow(key.name, key.series, word, None, (), (_missing(cell),))
    return VerdictRow(
        key.name,
        key.series,
        word,
        speed_of(cell.load, comparison),
        tuple(_facts(cell, comparison, key.name)),
        tuple(_remarks(comparison, told)),
    )


def table_row(cell: Cell, name: str, told: Sequence[Doubt] = ()) -> tuple[str, ...]:
    """Give the same in the order of ``COLUMNS``; see ``verdict_row``."""
    comparison = cell.comparisons.get(name)
    word = word_of(cell, name)
    if comparison is None:
        return (cell.load.words, name, word, *[numbers.NOTHING] * 7, _missing(cell)[1])
    of = cell.arms[name].acceptance
    return (
        cell.load.words,
        name,
        f"{word} (LOSSY)" if comparison.lossy else word,
        numbers.ratio(comparison.ratios.get(THROUGHPUT)),
        *(numbers.ratio(comparison.ratios.get(f"e2e.p{rank}")) for rank in _RANKS),
        numbers.decimal(of.length if of else None),
        numbers.percent(of.rate if of else None),
        numbers.same_output(comparison.outputs),
        "; ".join(text for _, text in _remarks(comparison, told)),
    )


def taken(doubt: Doubt) -> str:
    """Say what a doubt does."""
    does = "takes the claim away" if doubt.fatal else "qualifies the numbers"
    return f"{doubt.id} {does}"


def _missing(cell: Cell) -> Remark:
    if not cell.failures:
        return "info", "no whole round was measured"
    first = cell.failures[0]
    what = without_secrets(" ".join(first.what.split()))
    who = f" ({first.prompt_id})" if first.prompt_id else ""
    more = f", and {len(cell.failures) - 1} more" if len(cell.failures) > 1 else ""
    return "warning", f"arm {first.arm}{who}: {what}{more}"


def _facts(cell: Cell, comparison: Comparison, name: str) -> Iterator[tuple[str, str]]:
    if cell.load.arrivals != "closed":
        yield CLOSED, numbers.ratio(comparison.ratios.get(THROUGHPUT))
    for rank in _RANKS:
        if found := comparison.ratios.get(f"e2e.p{rank}"):
            yield f"E2E p{rank} / off", numbers.ratio(found)
    yield "acceptance", numbers.length_and_rate(cell.arms[name].acceptance)
    yield "same output", numbers.same_output(comparison.outputs)


def _remarks(comparison: Comparison, told: Sequence[Doubt] = ()) -> Iterator[Remark]:
    """Give the reasons, each once: a fatal doubt is the reason of its verdict, too."""
    if comparison.lossy:
        yield "lossy", f"LOSSY: {comparison.lossy}"
    for doubt in comparison.doubts:
        tone: NoteKind = "warning" if doubt.fatal else "info"
        if doubt not in told:
            yield tone, f"{taken(doubt)}: {doubt.what}"
        elif doubt.fatal:
            yield tone, f"{taken(doubt)}, see above"
    if comparison.verdict.reason and not any(d.fatal for d in comparison.doubts):
        yield "info", comparison.verdict.reason
