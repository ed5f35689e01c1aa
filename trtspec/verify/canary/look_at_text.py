"""Whether answers are text that a language model could mean.

Broken logits, a wrong checkpoint or a drafter that overrules its target show as one
token over and over, as nothing at all, or as random tokens (issues 8713 and 11125 of
NVIDIA/TensorRT-LLM).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trtspec.bench.doubts.cycles import repeated_share
from trtspec.bench.doubts.degenerate import MOST, PHRASE, SHORTEST, SHORTEST_TEXT
from trtspec.bench.doubts.random_text import random_by_text
from trtspec.verify.arm import Answer
from trtspec.verify.canary.record import Check, failed, passed

BROKEN = "\N{REPLACEMENT CHARACTER}"
BROKEN_SHARE = 0.05
"""Of a text; one at the end is a character that the last token left half done."""


def look_at_text(answers: Sequence[Answer]) -> Check:
    """Fail if more answers than chance explains are no text."""
    faults = [fault for answer in answers if (fault := fault_of(answer))]
    texts = [answer.text for answer in answers]
    if random := random_by_text(texts).count:
        faults += [f"{random} texts look like random tokens"]
    if len(faults) > PHRASE.many * len(answers):
        kinds = dict.fromkeys(faults)
        what = f"{len(faults)} of {len(answers)} answers are no text: "
        return failed("text", what + "; ".join(kinds))
    less = f", {faults[0]} in one" if faults else ""
    return passed("text", f"{len(answers)} answers read like text{less}")


def fault_of(answer: Answer) -> str:
    """Say what is wrong with one answer; empty if nothing is to be seen."""
    return next(_faults(answer), "")


def _faults(answer: Answer) -> Iterator[str]:
    text = answer.text
    if not text.strip():
        yield "empty"
    if _loops(answer):
        yield "one token or phrase over and over"
    if text.count(BROKEN) > max(1, BROKEN_SHARE * len(text)):
        yield "bytes that are no characters"


def _loops(answer: Answer) -> bool:
    """Whether most of an answer is a short cycle; too short ones are not judged."""
    if answer.tokens is not None and len(answer.tokens) >= SHORTEST:
        return repeated_share(answer.tokens, PHRASE.tokens) >= MOST
    if len(answer.text) < SHORTEST_TEXT:
        return False
    codes = [ord(character) for character in answer.text]
    return repeated_share(codes, PHRASE.characters) >= MOST
