"""What drafting costs, by method."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trtspec.errors import UsageError
from trtspec.methods import Eagle, Medusa, Method
from trtspec.methods.trees import DYNAMIC, tree_shape
from trtspec.tune.price.heads import head_of
from trtspec.tune.price.parts import Forward, Pricer
from trtspec.tune.price.subject import Subject

FREE = ("ngram", "suffix", "lookahead")
"""They look things up on the host, or draft within the verification."""

Seconds = Callable[[int, int], float]
"""Of one round without the host, by requests and draft length."""


def drafting(subject: Subject, pricer: Pricer, context: int) -> Seconds:
    """Give the cost of a round of drafting.

    :raises UsageError: for a method whose drafting nobody can price.
    """
    method = subject.method.method
    if method in FREE:
        return lambda requests, length: 0.0
    if method in ("draft_target", "pard"):
        return _model(subject, pricer, context)
    if method in ("eagle", "eagle3", "mtp", "medusa", "dflash"):
        head = head_of(subject)
        return lambda requests, length: pricer.head(
            head, requests, forwards(subject.method, length), context
        )
    raise UsageError(
        f"what method {method} drafts with has no price",
        where=subject.name,
        allowed=f"{', '.join(FREE)}, draft_target, pard, eagle, eagle3, mtp, medusa, "
        "dflash",
        action="measure its steps where it runs",
    )


def _model(subject: Subject, pricer: Pricer, context: int) -> Seconds:
    """A decoding step per token, or for PARD one forward over what it proposes."""
    draft = subject.draft
    assert draft is not None, "the method has a draft model"
    if subject.method.method == "pard":
        # as many tokens that were accepted, at most, as masks
        return lambda requests, length: pricer.forward(
            draft, requests, 2 * length, context, once=True
        )
    return lambda requests, length: (
        length * pricer.forward(draft, requests, 1, context, once=True)
    )


def forwards(method: Method, length: int) -> Sequence[Forward]:
    """Say which forwards a head makes in a round.

    The first one reads all tokens that may have been accepted: its cache has to hold
    them, and an engine of fixed shapes takes K + 1 of each request.
    """
    if isinstance(method, Medusa):
        return (Forward(body=1),)
    if method.method == "dflash":
        block = length + 1
        return (Forward(body=block, output=length, fused=block),)
    depth, width = _levels(method, length)
    first = Forward(body=depth + 1, fused=depth + 1)
    return (first, *(Forward(body=width, output=width),) * (depth - 1))


def drafter_forwards(method: Method, length: int) -> int:
    """Count the forwards of a round that the host starts."""
    if method.method in FREE:
        return 0
    if method.method == "draft_target":
        return length
    return 1 if method.method == "pard" else len(forwards(method, length))


def _levels(method: Method, length: int) -> tuple[int, int]:
    """Give depth of a draft, and the most nodes of a level that are drafted from.

    Of a fixed tree the nodes with children count, of a dynamic one its width.
    """
    tree = getattr(method, "tree", None)
    if tree is None:
        return length, 1
    if tree == DYNAMIC:
        width = getattr(method, "tree_top_k", None) or getattr(
            method, "dynamic_top_k", None
        )
        return _depth(method), width or 1
    shape = tree_shape(tree)
    return shape.depth, max(1, shape.most_inner_nodes)


def _depth(method: Method) -> int:
    """Levels of a dynamic tree: the number that the recipe gives."""
    if isinstance(method, Eagle):
        return method.num_layers
    given = getattr(method, "draft_length", 1)
    return given if isinstance(given, int) else max(given.values())
