"""Which draft tokens become output, so that the target's distribution is untouched.

Terms: *path*, the accepted nodes of the draft tree from the top down; *next token*, the
one that follows the path: the bonus token after a fully accepted branch, the
correction after a rejection.

Greedy: a draft token is accepted if it is the target's argmax.

Sampled: speculative sampling for chains (Leviathan et al., arXiv 2211.17192; Chen et
al., arXiv 2302.01318) and its recursive form for trees (SpecInfer, arXiv 2305.09781).
With target probabilities p and a candidate x drawn from q:

    accept x with probability min(1, p(x) / q(x)); on rejection replace p by
    normalise(max(0, p - q)) and try the next sibling; when no sibling is left,
    draw the next token from what p has become.

A candidate chosen without chance has q = 1 at x: it is accepted with probability p(x),
and rejected by removing x from p.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from torch import Tensor

from trtspec.reference.chance import Chance
from trtspec.reference.tree import ROOT, DraftTree


class Acceptance(NamedTuple):
    """The outcome of one verification: accepted nodes and the token after them."""

    path: tuple[int, ...]
    next_token: int


def accept_greedy(tree: DraftTree, best: Sequence[int]) -> Acceptance:
    """Follow the target's argmax through the tree.

    :param best: argmax after the pending token, then after each node: [1 + nodes].
    """
    path: list[int] = []
    node = ROOT
    while True:
        token = best[node + 1]
        matching = [c for c in tree.children(node) if tree.tokens[c] == token]
        if not matching:
            return Acceptance(tuple(path), token)
        node = matching[0]
        path.append(node)


def accept_sampled(
    tree: DraftTree, target: Callable[[int], Tensor], chance: Chance
) -> Acceptance:
    """Accept by recursive rejection sampling; exact for any proposals.

    :param target: gives the target's probabilities [vocabulary] after a node, or after
        the pending token for ``ROOT``; called only for nodes that are reached.
    """
    path: list[int] = []
    node = ROOT
    while True:
        p = target(node)
        for child in tree.children(node):
            token, q = tree.tokens[child], tree.proposal(child)
            if chance.flip(acceptance_probability(p, q, token)):
                path.append(child)
                node = child
                break
            p = residual(p, q, token)
        else:
            return Acceptance(tuple(path), chance.draw(p))


def acceptance_probability(p: Tensor, q: Tensor | None, token: int) -> float:
    """min(1, p(x) / q(x)); p(x) for a point mass (arXiv 2211.17192, section 2.3).

    :raises ValueError: if q gives the token no mass: it was not drawn from q.
    """
    if q is None:
        return float(p[token])
    proposed = float(q[token])
    if proposed <= 0:
        raise ValueError(f"draft token {token} has no mass in its own proposal")
    return min(1.0, float(p[token]) / proposed)


def residual(p: Tensor, q: Tensor | None, token: int) -> Tensor:
    """normalise(max(0, p - q)): what is left of p after a rejection.

    :returns: probabilities [vocabulary]. If nothing is left, p itself: a rejection
        then had probability zero but for rounding.
    """
    if q is None:
        left = p.clone()
        left[token] = 0
    else:
        left = (p - q).clamp(min=0)
    total = left.sum()
    return left / total if total > 0 else p
