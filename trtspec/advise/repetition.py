"""How much of a text could be copied from what stands before it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

LOOKED_UP = 3
"""Tokens at the end of the text that have to occur before: n of the n-grams."""


def copied(
    before: Sequence[Hashable], text: Sequence[Hashable], n: int = LOOKED_UP
) -> tuple[int, int]:
    """Count the tokens of a text that prompt lookup would have copied right.

    A token counts if the ``n`` tokens in front of it occurred earlier, and the last
    time they did, the same token followed.

    :param before: what stands before the text, such as a prompt.
    :returns: such tokens, and tokens that have ``n`` others in front of them.
    """
    whole = [*before, *text]
    following: dict[tuple[Hashable, ...], Hashable] = {}
    hits = asked = 0
    for place in range(n, len(whole)):
        gram = tuple(whole[place - n : place])
        if place >= len(before):
            asked += 1
            hits += following.get(gram) == whole[place] and gram in following
        following[gram] = whole[place]
    return hits, asked


def copied_share(
    pairs: Sequence[tuple[Sequence[Hashable], Sequence[Hashable]]],
) -> float | None:
    """Give the share of copied tokens over all texts; None if none has any tokens.

    :param pairs: what stands before, and the text.
    """
    counts = [copied(before, text) for before, text in pairs]
    asked = sum(count for _, count in counts)
    return sum(hits for hits, _ in counts) / asked if asked else None
