"""Whether an answer is the same streamed and not, cut where asked, and counted right.

An engine that emits several tokens per step has to find stop strings inside and across
them, and must not emit more than was asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from trtspec.verify.canary.record import Check, failed, passed, untold
from trtspec.verify.canary.talk import Ask, Heard, Talker

STOP_LENGTH = 6
"""Characters of a stop string: more than most tokens have, so that it spans two."""
_EARLIEST, _LATEST = 0.3, 0.7
"""Part of the text in which it is looked for."""
_SHOWN = 40
LENGTH = "length"


def look_at_talk(talker: Talker, asks: Sequence[Ask]) -> list[Check]:
    """Ask the same streamed and whole, then once more with stop strings."""
    whole = talker.say([replace(ask, stream=False) for ask in asks], 1)
    streamed = talker.say([replace(ask, stream=True) for ask in asks], 1)
    return [
        _streaming(talker, asks, whole, streamed),
        _stops(talker, asks, whole),
        _usage(asks, whole, streamed),
    ]


def _streaming(
    talker: Talker,
    asks: Sequence[Ask],
    whole: Mapping[str, Heard],
    streamed: Mapping[str, Heard],
) -> Check:
    differing = [a for a in asks if whole[a.id].text != streamed[a.id].text]
    pieces = sum(len(heard.pieces) for heard in streamed.values())
    if not differing:
        what = f"{pieces} pieces join to the same {len(asks)} texts"
        return passed("streaming", what)
    again = talker.say([replace(ask, stream=False) for ask in differing], 1)
    settled = [a for a in differing if again[a.id].text == whole[a.id].text]
    if not settled:
        what = "greedy answers differ from one time to the next, streamed or not"
        return untold("streaming", what)
    ask = settled[0]
    return failed(
        "streaming", _apart(ask.id, whole[ask.id].text, streamed[ask.id].text)
    )


def _apart(name: str, one: str, other: str) -> str:
    """Show where two texts part."""
    pairs = enumerate(zip(one, other, strict=False))
    first = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
    ours, theirs = one[first : first + _SHOWN], other[first : first + _SHOWN]
    return f"{name}: from character {first} on {ours!r} whole, {theirs!r} streamed"


def _stops(talker: Talker, asks: Sequence[Ask], whole: Mapping[str, Heard]) -> Check:
    stops = {a.id: stop for a in asks if (stop := stop_string(whole[a.id].text))}
    if not stops:
        return untold("stop strings", "the answers are too short to choose one from")
    cut = [replace(ask, stop=(stops[ask.id],)) for ask in asks if ask.id in stops]
    wrong = []
    for stream in (False, True):
        heard = talker.say([replace(ask, stream=stream) for ask in cut], 1)
        how = "streamed" if stream else "whole"
        for ask in cut:
            expected = whole[ask.id].text.split(ask.stop[0], 1)[0]
            if fault := _stop_fault(ask, heard[ask.id], expected):
                wrong.append(f"{ask.id}, {how}: {fault}")
    if wrong:
        return failed("stop strings", "; ".join(wrong[:3]))
    return passed("stop strings", f"{len(cut)} texts end before theirs, either way")


def _stop_fault(ask: Ask, heard: Heard, expected: str) -> str:
    stop = ask.stop[0]
    if stop in heard.text:
        return f"{stop!r} is still in the text"
    if heard.text.rstrip() != expected.rstrip():
        ours, theirs = expected[-_SHOWN:], heard.text[-_SHOWN:]
        return f"the text ends in {theirs!r} in place of {ours!r}"
    if heard.finish == LENGTH:
        return f"the request went on for its full length behind {stop!r}"
    return ""


def stop_string(text: str) -> str:
    """Choose a few characters from the middle of a text; empty if it is too short.

    Across a word's end, so that no single token is likely to be just this.
    """
    first, last = int(_EARLIEST * len(text)), int(_LATEST * len(text))
    for start in range(first, last):
        found = text[start : start + STOP_LENGTH]
        whole = len(found) == STOP_LENGTH and found == found.strip()
        if whole and " " in found and found.isprintable():
            return found if text.index(found) >= STOP_LENGTH else ""
    return ""


def _usage(
    asks: Sequence[Ask], whole: Mapping[str, Heard], streamed: Mapping[str, Heard]
) -> Check:
    wrong, told = [], 0
    for ask in asks:
        for heard in (whole[ask.id], streamed[ask.id]):
            told += heard.completion_tokens is not None
            if fault := _count_fault(ask, heard):
                wrong.append(f"{ask.id}: {fault}")
        one, other = whole[ask.id], streamed[ask.id]
        if one.text == other.text and (fault := _unlike(one, other)):
            wrong.append(f"{ask.id}: {fault}")
    if wrong:
        return failed("usage", "; ".join(dict.fromkeys(wrong)))
    if not told:
        return untold("usage", "the engine does not count tokens")
    return passed("usage", f"the counts of {told} answers add up")


def _count_fault(ask: Ask, heard: Heard) -> str:
    count = heard.completion_tokens
    if count is None:
        return ""
    if count > ask.max_tokens:
        return f"{count} tokens came, and {ask.max_tokens} were asked for"
    if heard.finish == LENGTH and count != ask.max_tokens:
        return f"{count} tokens at full length, which is {ask.max_tokens}"
    if heard.tokens is not None and len(heard.tokens) != count:
        return f"{len(heard.tokens)} token ids, counted as {count}"
    if heard.total_tokens is not None and heard.prompt_tokens is not None:
        total = heard.prompt_tokens + count
        if heard.total_tokens != total:
            return f"{heard.total_tokens} tokens in all, and {total} by its parts"
    return "text without a token" if heard.text and not count else ""


def _unlike(one: Heard, other: Heard) -> str:
    for name in ("completion_tokens", "prompt_tokens"):
        ours, theirs = getattr(one, name), getattr(other, name)
        if None not in (ours, theirs) and ours != theirs:
            return f"{name} {ours} whole and {theirs} streamed, for the same text"
    return ""
