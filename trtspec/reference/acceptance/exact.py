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

It holds for siblings drawn with replacement (each from the same q) and without (each
from q without the earlier ones, renormalised). A candidate chosen without chance has
q = 1 at x: it is accepted with probability p(x), and rejected by removing x from p.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor

from trtspec.reference.acceptance.base import Acceptance, Verified
from trtspec.reference.chance import Chance
from trtspec.reference.tree import ROOT, DraftTree
from trtspec.run import SamplingParams


def accept_exactly(
    verified: Verified, sampling: SamplingParams, chance: Chance
) -> Acceptance:
    """Accept so that the output follows the target's distribution; see ``Rule``."""
    if sampling.greedy:
        return accept_greedy(verified.tree, verified.best)
    return accept_sampled(
        verified.tree, lambda node: verified.probabilities(node, sampling), chance
    )


def accept_greedy(tree: DraftTree, best: Sequence[int]) -> Acceptance:
    """Follow the target's argmax through the tree.

    :param best: argmax after the pending token, then after each node: [1 + nodes].
    """
    path: list[int] = []
    node = ROOT
    while True:
        child = matching_child(tree, node, best[node + 1])
        if child is None:
            return Acceptance(tuple(path), best[node + 1])
        path.append(child)
        node = child


def matching_child(tree: DraftTree, node: int, token: int) -> int | None:
    """Give the first child of a node that is ``token``; None if there is none."""
    matching = (c for c in tree.children(node) if tree.tokens[c] == token)
    return next(matching, None)


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
        child, left = try_children(tree, node, target(node), chance)
        if child is None:
            return Acceptance(tuple(path), chance.draw(left))
        path.append(child)
        node = child


def try_children(
    tree: DraftTree, node: int, p: Tensor, chance: Chance
) -> tuple[int | None, Tensor]:
    """Try a node's children in order.

    :param p: the target's probabilities [vocabulary] after the node.
    :returns: the accepted child, or None; and what the rejections left of p.
    """
    for child in tree.children(node):
        token, q = tree.tokens[child], tree.proposal(child)
        if chance.flip(acceptance_probability(p, q, token)):
            return child, p
        p = residual(p, q, token)
    return None, p


def acceptance_probability(p: Tensor, q: Tensor | None, token: int) -> float:
    """min(1, p(x) / q(x)); p(x) for a point mass (arXiv 2211.17192, section 2.3).

    :raises ValueError: if q gives the token no mass: it was not drawn from q.
    """
    if q is None:
        return float(p[token])
    proposed = float(q[token])
    if not proposed > 0:  # NaN is no more than 0 either
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
