"""A tuning on the terminal: the choice first, then what it was chosen from."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from trtspec.recipe.dump import flow_text
from trtspec.tune.result import CandidateResult, LoadChoice, TuneResult
from trtspec.tune.sentences import headline, length_words, notes, ratio


def print_tuning(result: TuneResult, console: Console) -> None:
    """Print the choice, its loads, the lengths that were compared, and the bill."""
    for line in headline(result):
        console.print(line, highlight=False, soft_wrap=True)
    console.print(_loads(result))
    if len(result.candidates) > 1:
        console.print(_candidates(result))
    console.print(_surface(result.best))
    for line in notes(result):
        console.print(line, highlight=False, soft_wrap=True)


def _loads(result: TuneResult) -> Table:
    table = Table(title="By load: throughput / that of plain decoding")
    for name in ("concurrency", "draft length", "predicted", "measured", "verdict"):
        table.add_column(name, justify="left" if name == "verdict" else "right")
    for load in result.best.loads:
        measured = load.measured
        table.add_row(
            str(load.concurrency),
            length_words(load),
            ratio(load.gain, load.interval),
            ratio(measured.gain, measured.interval) if measured else "-",
            load.word,
        )
    return table


def _candidates(result: TuneResult) -> Table:
    table = Table(
        title="Methods: predicted gain by concurrency, with their own lengths"
    )
    table.add_column("method")
    for load in result.best.loads:
        table.add_column(str(load.concurrency), justify="right")
    table.add_column("draft_length")
    for one in result.candidates:
        chosen = "none" if one.draft_length is None else flow_text(one.draft_length)
        table.add_row(one.name, *(_gain(load) for load in one.loads), chosen)
    return table


def _gain(load: LoadChoice) -> str:
    return f"{load.gain:.2f}" if load.length else f"none ({load.gain:.2f})"


def _surface(best: CandidateResult) -> Table:
    table = Table(
        title=f"{best.name}: predicted tokens/s while so many requests decode"
    )
    table.add_column("draft length", justify="right")
    table.add_column("tokens/step", justify="right")
    for batch in best.surface:
        table.add_column(str(batch), justify="right")
    for points in zip(*best.surface.values(), strict=True):
        length = points[0].length
        table.add_row(
            str(length) if length else "none",
            f"{points[0].tokens_per_step:.2f}",
            *(f"{point.throughput:.1f}" for point in points),
        )
    return table
