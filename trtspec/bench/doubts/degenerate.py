"""Whether the answers are text, or the same few tokens over and over.

A model that loops is predicted perfectly by every drafter, above all by n-gram lookup:
the speed-up is real and worth nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trtspec.bench.cells import Doubt
from trtspec.bench.doubts.cycles import repeated_share
from trtspec.bench.metrics import ArmData
from trtspec.bench.records import Sample
from trtspec.bench.result import Plan


@dataclass(frozen=True, slots=True)
class Loop:
    """A kind of loop.

    :param tokens: longest cycle in token ids.
    :param characters: the same where a server gives no ids.
    :param words: how a reader calls it.
    :param few: share of answers from which on the reader is told.
    :param many: share of answers beyond which no claim is made.
    """

    id: str
    tokens: int
    characters: int
    words: str
    few: float
    many: float


PHRASE = Loop("degenerate-output", 8, 32, "one token or short phrase", 0.05, 0.2)
"""With more than a fifth of such answers they can decide a median. SmolLM2 has none
among 48 greedy answers to the prompts that come with trtspec."""

SENTENCE = Loop("repeating-output", 32, 128, "one sentence or line", 0.1, 0.5)
"""Small models do this in one of ten good answers, as they copy lists, tables and code;
so most answers must be like that."""

MOST = 0.5
"""Share of an answer that the cycle covers: the answer is the loop then."""

SHORTEST = 16
"""Tokens; below, a yes or a number is not told from a loop."""

SHORTEST_TEXT = 64
"""Characters."""


def degenerate_doubts(plan: Plan, on: ArmData, off: ArmData) -> Iterator[Doubt]:
    """Look at the answers that were kept, those of block 1, in both arms."""
    for arm in (off, on):
        for kind in (PHRASE, SENTENCE):
            found = _found(plan, arm, kind)
            if found:
                yield found
                break


def _found(plan: Plan, arm: ArmData, kind: Loop) -> Doubt | None:
    judged = [looping for s in arm.samples if (looping := loops(s, kind)) is not None]
    count = sum(judged)
    if not count or count < kind.few * len(judged):
        return None
    fatal = count > kind.many * len(judged)
    end = " (they go on past their natural end)" if plan.settings.fixed_length else ""
    why = "; such text is drafted without fail, and nobody wants it" if fatal else ""
    return Doubt(
        id=kind.id,
        what=f"arm {arm.arm}: {count} of {len(judged)} answers are for the most part "
        f"{kind.words} repeated{end}{why}",
        fatal=fatal,
    )


def loops(sample: Sample, kind: Loop = PHRASE) -> bool | None:
    """Whether an answer is for the most part a loop; None if it cannot be judged."""
    if sample.tokens is not None:
        if len(sample.tokens) < SHORTEST:
            return None
        return repeated_share(sample.tokens, kind.tokens) >= MOST
    if sample.text is None or len(sample.text) < SHORTEST_TEXT:
        return None
    codes = [ord(character) for character in sample.text]
    return repeated_share(codes, kind.characters) >= MOST
