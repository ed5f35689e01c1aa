"""What a tuning says in words: the same on the terminal and on its page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from trtspec.recipe.dump import flow_text
from trtspec.tune.result import (
    CandidateResult,
    Disagreement,
    Interval,
    LoadChoice,
    TuneResult,
)


def ratio(value: float, interval: Interval | None) -> str:
    """Write a ratio with its interval: 1.48 [1.31, 1.67]."""
    if interval is None:
        return f"{value:.2f}"
    return f"{value:.2f} [{interval[0]:.2f}, {interval[1]:.2f}]"


def listed(words: Iterable[object]) -> str:
    """List words: 1, 4 and 8."""
    *first, last = map(str, words)
    return f"{', '.join(first)} and {last}" if first else last


def headline(result: TuneResult) -> list[str]:
    """Say what is chosen, and what may be said of it."""
    best = result.best
    return [f"{best.recipe}: {choice_words(best)}", said_of_loads(best)]


def choice_words(best: CandidateResult) -> str:
    """Say what is chosen, as a recipe would."""
    if best.draft_length is None:
        return "do not speculate on this workload"
    if best.tree:
        return f"tree of {len(best.tree)} nodes"
    if not best.cut_anywhere:
        return "the recipe's own setting"
    return f"draft_length: {flow_text(best.draft_length)}"


def draft_words(best: CandidateResult) -> str:
    """Say what is chosen, as a person would."""
    chosen = best.draft_length
    if chosen is None:
        return "Do not speculate on this workload."
    if best.tree:
        return f"Draft a tree of {len(best.tree)} nodes per step."
    if not best.cut_anywhere:
        return "Draft as the recipe has it."
    if isinstance(chosen, int):
        return f"Draft {_tokens(chosen)} per step."
    (most, length), *more = sorted(chosen.items())
    requests = "request" if most == 1 else "requests"
    first = f"{_tokens(length)} per step up to {most} running {requests}"
    rest = [f"{k} up to {batch}" for batch, k in more]
    return f"Draft {', '.join([first, *rest])}, none above."


def _tokens(length: int) -> str:
    return f"{length} token{'s' if length > 1 else ''}"


def said_of_loads(best: CandidateResult) -> str:
    """Say where drafting is faster and where not, all loads in one sentence."""
    measured = all(load.measured for load in best.loads)
    drafting = [load for load in best.loads if load.length]
    told = ", ".join(
        f"{word} at concurrency {listed(load.concurrency for load in group)}"
        for word, group in groupby(drafting, lambda load: load.word)
    )
    without = would_give([load for load in best.loads if not load.length])
    kind = "measured" if measured else "predicted"
    return f"{kind}: {'; '.join(filter(None, [told, without]))}"


def would_give(loads: Sequence[LoadChoice]) -> str:
    """Say what the best draft length would do where nothing is drafted."""
    if not loads:
        return ""
    gains = listed(ratio(x.gain, x.interval) for x in (y.measured or y for y in loads))
    return (
        f"nothing is drafted at concurrency {listed(x.concurrency for x in loads)}, "
        f"where the best draft length would give {gains} times plain decoding"
    )


def length_words(load: LoadChoice) -> str:
    """Name the chosen length; where nothing is drafted, also the best there is."""
    return str(load.length) if load.length else f"none (best: {load.of_length})"


def notes(result: TuneResult) -> list[str]:
    """Say what else is worth knowing: break-even, categories, the bench, the bill."""
    return [
        break_even_words(result.best),
        *limit_lines(result),
        *price_lines(result),
        *category_lines(result.best),
        *bench_lines(result),
        *bill_lines(result),
        *(f"note: {note}" for note in result.notes),
    ]


def break_even_words(best: CandidateResult) -> str:
    """Say up to how many running requests the best length still gains."""
    found, batches = best.break_even, sorted(best.surface)
    first, last = batches[0], batches[-1]
    if found.batch is None:
        told = f"drafting gains up to {last} running requests, the most looked at"
        if found.low is not None and found.low <= first:
            told += "; the interval's lower end at no batch size"
        elif found.low is not None:
            told += f"; the interval's lower end falls to 1 at {found.low:.1f}"
    elif found.batch <= first:
        told = "drafting gains at no batch size"
        if found.high is None or found.high > first:
            told += f"; the interval's upper end falls to 1 {_end(found.high, last)}"
    else:
        told = f"break-even at {found.batch:.1f} running requests"
        if found.low is not None:
            high = f"above {last}" if found.high is None else f"{found.high:.1f}"
            told += f" [{found.low:.1f}, {high}]"
    return f"predicted: {told}"


def _end(batch: float | None, last: int) -> str:
    return f"above {last}" if batch is None else f"at {batch:.1f}"


def limit_lines(result: TuneResult) -> list[str]:
    """Say which loads keep the limit on the time per token."""
    if result.tpot_limit is None:
        return []
    kept = [x.concurrency for x in result.best.loads if x.tpot <= result.tpot_limit]
    told = f"concurrency {listed(kept)}" if kept else "no load"
    return [f"TPOT up to {result.tpot_limit:g} s (predicted): {told}"]


def price_lines(result: TuneResult) -> list[str]:
    """Say what a million output tokens cost, if the machine has a price."""
    if result.hourly is None:
        return []
    scale = result.hourly / 3600 * 1e6
    each = "; ".join(
        f"{scale / load.predicted:.2f} at concurrency {load.concurrency}"
        + (f" (plain decoding {scale / load.plain:.2f})" if load.length else "")
        for load in result.best.loads
    )
    return [f"a million output tokens at {result.hourly:g} an hour (predicted): {each}"]


def category_lines(best: CandidateResult) -> list[str]:
    """Say which categories alone would get other lengths, if any differ."""
    lengths = best.by_category
    if len({tuple(sorted(one.items())) for one in lengths.values()}) < 2:
        return []
    told = "; ".join(
        f"{name} {flow_text(one)}" for name, one in sorted(lengths.items())
    )
    return [f"each category alone, by running requests: {told}"]


def bench_lines(result: TuneResult) -> list[str]:
    """Say what the bench changed, where it disagrees, and what the choice loses."""
    found = result.confirmation
    if found is None:
        return ["not measured: --confirm compares the choice with plain decoding"]
    return [
        *(f"changed by the bench: {line}" for line in found.changed),
        *map(disagreement_words, found.disagreements),
        *regret_lines(found.regret),
    ]


def disagreement_words(found: Disagreement) -> str:
    """Say where a prediction lies outside of what was measured."""
    measured = ratio(found.measured.gain, found.measured.interval)
    return (
        f"prediction and bench disagree at concurrency {found.concurrency}, "
        f"{found.arm}: {found.predicted:.2f} predicted, {measured} measured"
    )


def regret_lines(regret: dict[int, float]) -> list[str]:
    """Say what the choice loses against the best length of the sweep."""
    return [
        f"regret at concurrency {load}: "
        + (f"{lost:.1%} below the best draft length" if lost > 0 else "none")
        for load, lost in regret.items()
    ]


def bill_lines(result: TuneResult) -> list[str]:
    """Say what the tuning took, and what a sweep takes."""
    return [*_items(result), sweep_words(result)]


def _items(result: TuneResult) -> Iterator[str]:
    for item in result.bill.items:
        starts = "start" if item.engine_starts == 1 else "starts"
        yield (
            f"{item.part}: {item.engine_starts} engine {starts}, {item.steps} steps, "
            f"{item.model_seconds:.1f} s in the model"
        )


def sweep_words(result: TuneResult) -> str:
    """Compare the bill with trying everything once."""
    bill = result.bill
    kind = "measured" if bill.swept else "predicted"
    told = f"a sweep of all lengths, once: {bill.sweep.model_seconds:.1f} s ({kind})"
    if bill.share is not None:
        told += f"; traces and costs took {bill.share:.1%} of that"
    return told
