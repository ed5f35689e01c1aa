"""A tuning on the terminal: the choice first, then what it was chosen from."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from trtspec.recipe.dump import flow_text
from trtspec.tune.result import CandidateResult, LoadChoice, TuneResult
from trtspec.tune.sentences import headline, length_words, notes, ratio


def print_tuning(result: TuneResult, console: Console) -> None:
    """Print the choice, its loads, the lengths that were compared, and the bill."""
    _say(console, headline(result))
    _say(console, ["", "By load: throughput / that of plain decoding"])
    console.print(_loads(result))
    if len(result.candidates) > 1:
        _say(
            console,
            ["Methods: predicted gain by concurrency, each with its own choice"],
        )
        console.print(_candidates(result))
    best = result.best.name
    _say(console, [f"{best}: predicted tokens/s while so many requests decode"])
    console.print(_surface(result.best))
    _say(console, notes(result))


def _say(console: Console, lines: Sequence[str]) -> None:
    for line in lines:
        console.print(line, highlight=False, soft_wrap=True)


def _table(*columns: str, words: Sequence[str] = ()) -> Table:
    """Begin a table; numbers stand to the right, and no cell is broken."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in columns:
        side = "left" if name in words else "right"
        table.add_column(name, justify=side, no_wrap=True)  # type: ignore[arg-type]
    return table


def _loads(result: TuneResult) -> Table:
    table = _table(
        "concurrency",
        "draft length",
        "predicted",
        "measured",
        "verdict",
        words=["verdict"],
    )
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
    loads = [str(load.concurrency) for load in result.best.loads]
    words = ["method", "draft_length"]
    table = _table("method", *loads, "draft_length", words=words)
    for one in result.candidates:
        chosen = "none" if one.draft_length is None else flow_text(one.draft_length)
        table.add_row(one.name, *(_gain(load) for load in one.loads), chosen)
    return table


def _gain(load: LoadChoice) -> str:
    return f"{load.gain:.2f}" if load.length else f"none ({load.gain:.2f})"


def _surface(best: CandidateResult) -> Table:
    table = _table("draft length", "tokens/step", *map(str, best.surface))
    for points in zip(*best.surface.values(), strict=True):
        length = points[0].length
        table.add_row(
            str(length) if length else "none",
            f"{points[0].tokens_per_step:.2f}",
            *(f"{point.throughput:.1f}" for point in points),
        )
    return table
