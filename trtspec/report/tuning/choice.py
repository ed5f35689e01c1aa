"""What was chosen, how sure that is, and what takes away from it."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.bench.ratio import Ratio
from trtspec.bench.sentences import busy_warning
from trtspec.forced_acceptance import forced_variables
from trtspec.report import numbers
from trtspec.report.document import (
    Block,
    Bullets,
    Headline,
    LoadVerdicts,
    Note,
    NoteKind,
    Section,
    Table,
    VerdictRow,
    Verdicts,
)
from trtspec.report.tuning.load import LoadedTuning
from trtspec.tune.confirm import TUNED
from trtspec.tune.result import Interval, LoadChoice, TuneResult
from trtspec.tune.sentences import (
    break_even_words,
    draft_words,
    length_words,
    limit_lines,
    price_lines,
    said_of_loads,
)

_COLUMNS = (
    "concurrency",
    "draft length",
    "verdict",
    "predicted gain",
    "measured gain",
    "plain tokens/s",
    "chosen tokens/s",
    "TPOT ms",
    "acceptance length",
    "measured acceptance length",
)


def choice_section(found: LoadedTuning) -> Section:
    """Say the choice first."""
    result = found.result
    blocks: list[Block] = [*_notes(result), _verdicts(result)]
    lines = [*limit_lines(result), *price_lines(result), *result.notes]
    more = [f"{upper(line).rstrip('.')}." for line in lines]
    if result.confirmation:
        more += [f"Changed by the bench: {x}." for x in result.confirmation.changed]
    if more:
        blocks.append(Bullets(tuple(more)))
    return Section("Choice", tuple(blocks))


def upper(line: str) -> str:
    """Begin a sentence."""
    return line[:1].upper() + line[1:]


def _notes(result: TuneResult) -> Iterator[Note]:
    """Give what makes the whole tuning doubtful."""
    if busy := busy_warning(result.conditions):
        yield Note("warning", upper(busy.removeprefix("warning: ")) + ".")
    for forced in forced_variables(result.conditions.environment):
        yield Note("warning", f"${forced.switch.name}: {forced}.")
    for doubt in result.prompts.doubts:
        yield Note("warning", f"{doubt.id}: {doubt.what}.")
    if result.confirmation is None:
        yield Note("info", "Predicted, not measured: no bench confirmed the choice.")
    if result.best.tree:
        yield Note("info", "Draft lengths count the nodes of a tree here.")
    elif not result.best.cut_anywhere:
        yield Note(
            "info",
            "This method was looked at with its recipe's own setting only: what it "
            "drafts with another one need not begin alike.",
        )


def _verdicts(result: TuneResult) -> Verdicts:
    best = result.best
    return Verdicts(
        headlines=(
            Headline(
                draft_words(best),
                f"{upper(said_of_loads(best))}.",
                f"{upper(break_even_words(best))}.",
            ),
        ),
        loads=tuple(
            LoadVerdicts(_requests(load), (_row(result, load),), _which(load))
            for load in best.loads
        ),
        table=Table.of(_COLUMNS, [_cells(load) for load in best.loads], words=3),
    )


def _requests(load: LoadChoice) -> str:
    many = load.concurrency
    return f"{many} request{'s' if many > 1 else ''} in flight"


def _which(load: LoadChoice) -> str:
    kind = "measured" if load.measured else "predicted"
    return f"{kind} / plain"


def as_ratio(gain: float, interval: Interval | None) -> Ratio:
    """Give a gain as what the plots of ratios take."""
    return Ratio(
        estimate=gain, interval=interval, prompts_interval=None, blocks_interval=None
    )


def gain_text(gain: float, interval: Interval | None) -> str:
    """Write a gain: 1.48× [1.31, 1.67]."""
    return numbers.ratio(as_ratio(gain, interval))


def _row(result: TuneResult, load: LoadChoice) -> VerdictRow:
    shown = load.measured or load
    name = f"draft length {load.length}"
    if not load.length:
        name = f"no drafts (shown: the best length, {load.of_length})"
    return VerdictRow(
        name,
        1,
        load.word,
        as_ratio(shown.gain, shown.interval),
        tuple(_facts(load)),
        tuple(_remarks(result, load)),
    )


def _facts(load: LoadChoice) -> Iterator[tuple[str, str]]:
    if load.measured:
        yield "predicted", gain_text(load.gain, load.interval)
    yield "tokens/s predicted", _from_to(load)
    yield "TPOT predicted", f"{load.tpot * 1e3:.1f} ms"
    yield "acceptance length", _acceptance(load)


def _from_to(load: LoadChoice) -> str:
    plain = f"{load.plain:.1f}"
    return f"{plain} → {load.predicted:.1f}" if load.length else f"{plain} (plain)"


def _acceptance(load: LoadChoice) -> str:
    told = f"{numbers.decimal(load.acceptance_length)} replayed"
    if load.measured and load.measured.acceptance_length is not None:
        told += f", {numbers.decimal(load.measured.acceptance_length)} measured"
    return told


def _remarks(result: TuneResult, load: LoadChoice) -> Iterator[tuple[NoteKind, str]]:
    if load.interval is None:
        yield "info", "One prompt only carries no interval, so no claim."
    if load.priced and not load.measured:
        yield "info", "Priced, measured nowhere: nothing is claimed before a bench."
    if (bench := result.confirmation) is None:
        return
    if any(
        d.concurrency == load.concurrency and d.arm == TUNED
        for d in bench.disagreements
    ):
        yield (
            "warning",
            "The prediction lies outside of the measured interval; the measurement "
            "counts.",
        )
    if (lost := bench.regret.get(load.concurrency)) is not None:
        yield (
            "info",
            f"Regret {numbers.percent(lost)}: what the choice loses against the best "
            "draft length of the sweep.",
        )


def _cells(load: LoadChoice) -> tuple[str, ...]:
    measured = load.measured
    return (
        str(load.concurrency),
        length_words(load),
        load.word,
        gain_text(load.gain, load.interval),
        gain_text(measured.gain, measured.interval) if measured else numbers.NOTHING,
        numbers.decimal(load.plain, 1),
        numbers.decimal(load.predicted, 1),
        numbers.decimal(load.tpot * 1e3, 1),
        numbers.decimal(load.acceptance_length),
        numbers.decimal(measured.acceptance_length if measured else None),
    )
