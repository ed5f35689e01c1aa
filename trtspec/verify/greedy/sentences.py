"""How greedy parity reads: one line per comparison, then what it rests on."""

from __future__ import annotations

from trtspec.verify.greedy.judging import named
from trtspec.verify.greedy.records import Comparison, Difference, GreedyParity

_MOST_EXAMPLES = 3


def parity_lines(found: GreedyParity) -> list[str]:
    """Say what was compared and how it came out."""
    lines = [_line(one) for one in (*found.comparisons, *found.floor)]
    lines.append(f"tolerance: {found.tolerance.words}")
    if any(one.differences for one in (*found.comparisons, *found.floor)):
        lines.append(
            "behind a first difference nothing is compared: the texts part ways there"
        )
    for one in found.comparisons:
        lines += [f"{named(one)}: {_example(d)}" for d in _worst(one)]
    return lines


def _line(one: Comparison) -> str:
    tokens = "" if one.tokens is None else f", {one.tokens} tokens"
    rate = one.per_thousand
    often = "" if rate is None else f", {rate:.2g} per 1,000 tokens"
    text = (
        f"{named(one)}: {one.prompts} prompts{tokens} by {one.by}: identical "
        f"{one.identical.count}, near ties {one.near_ties.words}{often}, "
        f"real divergences {one.divergences.words}"
    )
    if one.unknown.count:
        text += f", not to be told {one.unknown.words}"
    if one.drafted:
        text += f"; {one.drafted} drafted, {one.accepted} accepted"
    return text


def _worst(one: Comparison) -> list[Difference]:
    """Give the differences that are not near ties, the largest gaps first."""
    told = [d for d in one.differences if d.kind != "near tie"]
    return sorted(told, key=lambda d: -abs(d.gap or 0.0))[:_MOST_EXAMPLES]


def _example(one: Difference) -> str:
    more = " or more" if one.at_least else ""
    gap = "gap not known" if one.gap is None else f"gap {one.gap:.3g}{more}"
    return (
        f"prompt {one.prompt_id} at {one.position}: off {_token(one.off)}, "
        f"other {_token(one.on)}, {gap} ({one.source}): {one.kind}"
    )


def _token(token: int | str | None) -> str:
    return "ended" if token is None else repr(token)
