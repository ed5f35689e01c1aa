"""Which tree for heads that do not see one another: what was right most often.

Each head ranks the tokens of its own place ahead, whatever stands before it (Medusa,
arXiv 2401.10774). So one trace of the ranks that the answers' own tokens had tells how
far any tree would have come at every place, exactly. A path is at least as often right
as what it begins, so the most frequent paths always form a tree: greedy expansion
(section 2.3.3) without the assumption that heads are right independently.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from trtspec.tune.trace import PromptTrace

Path = tuple[int, ...]
Tree = tuple[Path, ...]


def comb(ranks: int, depth: int) -> Tree:
    """Give the tree that shows each head's first so many ranks."""
    return tuple(
        (*(0,) * level, rank) for level in range(depth) for rank in range(ranks)
    )


def best_trees(traces: Sequence[PromptTrace], sizes: Sequence[int]) -> dict[int, Tree]:
    """Give the best tree of each size, as far as there are paths that were ever right.

    :param traces: with ranks.
    :return: by number of nodes; without sizes for which there are too few paths. Of a
        drafter that was never right, the likeliest token alone.
    """
    counts: Counter[Path] = Counter()
    for trace in traces:
        for ranks in trace.ranks or ():
            right = _right(ranks)
            counts.update(right[: end + 1] for end in range(len(right)))
    if not counts:
        return {1: ((0,),)}
    paths = sorted(counts, key=lambda path: (-counts[path], len(path), path))
    return {
        size: tuple(sorted(paths[:size], key=lambda path: (len(path), path)))
        for size in sizes
        if size <= len(paths)
    }


def with_tree(trace: PromptTrace, tree: Tree) -> PromptTrace:
    """Give the trace that a tree would have had along the same answer."""
    paths, depth = set(tree), max(map(len, tree))
    # the deepest level that may be drafted is cut at the end of an answer
    offered = tuple(
        min(depth, trace.limit - place - 1) for place in range(1, trace.emitted)
    )
    accepted = tuple(
        min(_depth(paths, ranks), most)
        for ranks, most in zip(trace.ranks or (), offered, strict=True)
    )
    nodes = tuple(sum(len(path) <= most for path in tree) for most in offered)
    return trace.model_copy(
        update={
            "offered": offered,
            "accepted": accepted,
            "drafted": nodes,
            "verified": nodes,
            "ranks": None,
        }
    )


def _right(ranks: Path) -> Path:
    """Give the ranks up to the first head that did not have the token at all."""
    for end, rank in enumerate(ranks):
        if rank < 0:
            return ranks[:end]
    return ranks


def _depth(paths: set[Path], ranks: Path) -> int:
    """Say how deep a tree goes along the ranks that were right."""
    depth = 0
    while depth < len(ranks) and ranks[: depth + 1] in paths:
        depth += 1
    return depth
