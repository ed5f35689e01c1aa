"""How token ids and the strings that they stand for are written in a finding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from trtspec.models.vocabulary import Kind, VocabularyMatch

_SHOWN_CHARACTERS = 20
_SHOWN_RANGES = 6
_SHOWN_EXAMPLES = 5


def ranges(ids: Sequence[int]) -> str:
    """Write ids in order as ranges, such as ``ids 3, 5 to 9 and 12 to 40``."""
    found = [str(a) if a == b else f"{a} to {b}" for a, b in _ranges(ids)]
    shown, more = found[:_SHOWN_RANGES], len(found) - _SHOWN_RANGES
    if more > 0:
        return f"ids {', '.join(shown)} and {more} more such places"
    *first, last = shown
    return f"ids {', '.join(first)} and {last}" if first else f"ids {last}"


def examples(match: VocabularyMatch, *kinds: Kind) -> str:
    """Show the first ids of some kinds with both strings."""
    every = (d for kind in kinds for d in match.examples.get(kind, ()))
    found = sorted(every, key=lambda difference: difference.id)
    return "; ".join(
        f"{d.id} is {shown(d.ours)} in the target, {shown(d.theirs)} in the draft"
        for d in found[:_SHOWN_EXAMPLES]
    )


def shown(token: str | None) -> str:
    """Quote a token, shortened; None stands for nothing."""
    if token is None:
        return "nothing"
    text = repr(token)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}...'"


def _ranges(ids: Sequence[int]) -> Iterator[tuple[int, int]]:
    start = 0
    for place in range(1, len(ids) + 1):
        if place == len(ids) or ids[place] != ids[place - 1] + 1:
            yield ids[start], ids[place - 1]
            start = place
