"""What the embedded engine does to the output: nothing, unless acceptance is lossy.

An entry of backend ``reference`` among a method's exactness is what says that the
engine runs it.
"""

from __future__ import annotations

from trtspec.methods.exactness import Exactness

_CHAIN = "rejection sampling, arXiv 2211.17192 and 2302.01318"
_TREE = "rejection sampling from sibling to sibling, arXiv 2305.09781"
_CHOSEN = "; tokens that are chosen without chance count with probability 1"


def exact_chain(drafts: str = "", *, chosen: bool = False) -> Exactness:
    """Say that chains are accepted exactly, greedy and sampled.

    :param drafts: where the method is described that drafts them.
    :param chosen: whether the tokens are chosen without chance.
    """
    return _exact(_CHAIN, drafts, chosen=chosen)


def exact_tree(drafts: str, *, chosen: bool = False) -> Exactness:
    """Say that trees are accepted exactly, greedy and sampled.

    :param drafts: where the method is described that drafts them.
    :param chosen: whether the candidates are chosen without chance, such as the
        likeliest of each node.
    """
    return _exact(_TREE, drafts, chosen=chosen)


def _exact(rule: str, drafts: str, *, chosen: bool) -> Exactness:
    source = rule + (_CHOSEN if chosen else "")
    return Exactness(
        "reference", source=source + (f"; drafts: {drafts}" if drafts else "")
    )


def typical(why: str) -> Exactness:
    """Say that sampled output is not the target's own; greedy requests go by argmax."""
    return Exactness("reference", sampled=why, source="arXiv 2401.10774")


def relaxed(why: str) -> Exactness:
    """Say that no output is the target's own."""
    source = "cpp/tensorrt_llm/kernels/speculativeDecoding/mtpKernels.cu"
    return Exactness("reference", greedy=why, sampled=why, source=source)
