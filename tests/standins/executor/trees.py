"""Which tokens does an engine draft? Prompt lookup, arranged as the method's tree.

Any proposals serve: what counts is that they are really verified.
"""

from __future__ import annotations

from collections.abc import Sequence

from trtspec.reference.tree import ROOT, DraftTree

Path = tuple[int, ...]
LONGEST_MATCH = 3


def ranked(tokens: Sequence[int], vocabulary: int) -> list[int]:
    """All token ids, the most promising continuation of the text first.

    What followed the last tokens earlier, longest match and latest place first; then
    what occurs in the text; then the rest.
    """
    found: dict[int, None] = {}
    for size in range(min(LONGEST_MATCH, len(tokens) - 1), 0, -1):
        ending = tuple(tokens[-size:])
        for end in range(len(tokens) - 1, size - 1, -1):
            if tuple(tokens[end - size : end]) == ending:
                found.setdefault(tokens[end])
    for token in reversed(tokens):
        found.setdefault(token)
    return [*found, *(token for token in range(vocabulary) if token not in found)]


def propose(paths: Sequence[Path], tokens: Sequence[int], vocabulary: int) -> DraftTree:
    """Draft the nodes at these paths; rank r is the r-th most promising token."""
    nodes: dict[Path, int] = {(): ROOT}
    texts: dict[Path, tuple[int, ...]] = {(): tuple(tokens)}
    orders: dict[Path, list[int]] = {}
    drafted, parents = [], []
    for path in sorted(paths, key=lambda path: (len(path), path)):
        above = path[:-1]
        if above not in orders:
            orders[above] = ranked(texts[above], vocabulary)
        token = orders[above][path[-1] % vocabulary]
        nodes[path], texts[path] = len(drafted), (*texts[above], token)
        drafted.append(token)
        parents.append(nodes[above])
    return DraftTree(tuple(drafted), tuple(parents))


def beams(count: int, length: int) -> list[Path]:
    """Chains that differ in their first token."""
    return [(first, *[0] * depth) for first in range(count) for depth in range(length)]


def dynamic(top_k: int, layers: int, room: int) -> list[Path]:
    """EAGLE-2: N nodes, then N of each level with N children, cut at the room."""
    level: list[Path] = [(rank,) for rank in range(top_k)]
    paths = list(level)
    for _ in range(layers - 1):
        level = [(*path, rank) for path in level[:top_k] for rank in range(top_k)]
        paths += level
    return paths[:room]
