"""What a round of drafting costs on the host, which no table of kernels knows."""

from __future__ import annotations

from pydantic import Field

from trtspec.bench.records import Record
from trtspec.methods import ChainMethod, Method
from trtspec.methods.trees import DYNAMIC, tree_shape

CHAIN_ROUND = 0.0017
TREE_ROUND = 0.0036
"""Seconds per round that NVIDIA's aisimulate documentation gives as host work which its
model leaves out, for vLLM on an H200. Nobody has published TensorRT-LLM's; where
the whole draft is one model with its target, less is likely."""

SOURCE = (
    "documentation of NVIDIA's aisimulate: host work per round of vLLM on an H200, "
    "{what}; TensorRT-LLM's own is not published"
)
GIVEN = "given by the user"


class Overhead(Record):
    """Seconds on the host per round that drafts; a plain step pays none of them.

    What a plain step pays on the host is in no table of kernels either, yet such tables
    alone predict measured plain steps within a few percent.
    """

    round_seconds: float = Field(ge=0, description="Per round, however long the draft.")
    draft_step_seconds: float = Field(
        default=0.0,
        ge=0,
        description="Per forward of the drafter; 0 by default, as the figure per round "
        "was measured with all of them in it.",
    )
    source: str = Field(default=GIVEN, description="Where the figures are from.")

    def of(self, forwards: int) -> float:
        """Give the seconds of a round with so many forwards of the drafter."""
        return self.round_seconds + forwards * self.draft_step_seconds


def default_overhead(method: Method) -> Overhead:
    """Give the published figure for a chain or for a tree."""
    seconds, what = (CHAIN_ROUND, "chain") if _chain(method) else (TREE_ROUND, "tree")
    return Overhead(round_seconds=seconds, source=SOURCE.format(what=what))


def _chain(method: Method) -> bool:
    """Whether a draft never branches, however it is written."""
    tree = getattr(method, "tree", None)
    if tree is None:
        return isinstance(method, ChainMethod)
    if tree == DYNAMIC:
        return False
    shape = tree_shape(tree)
    return shape.nodes == shape.depth
