"""What a rule of acceptance is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from torch import Tensor

from trtspec.reference.chance import Chance
from trtspec.reference.sampling import distribution
from trtspec.reference.tree import DraftTree
from trtspec.run import SamplingParams


class Verified(NamedTuple):
    """One request's draft with what the target says of it.

    :param logits: the target's after the pending token, then after each node:
        [1 + nodes, vocabulary] (rows behind them mean nothing).
    :param best: their argmax.
    :param tokens: prompt and output so far, the pending token last.
    """

    tree: DraftTree
    logits: Tensor
    best: Sequence[int]
    tokens: Sequence[int]

    def probabilities(self, node: int, sampling: SamplingParams) -> Tensor:
        """Give what a request samples from after a node, or ``ROOT``: [vocabulary]."""
        return distribution(self.logits[node + 1], sampling)


class Acceptance(NamedTuple):
    """The outcome of one verification: accepted nodes and the token after them."""

    path: tuple[int, ...]
    next_token: int


class Rule(Protocol):
    """Decides what of one request's draft becomes output."""

    def __call__(
        self, verified: Verified, sampling: SamplingParams, chance: Chance
    ) -> Acceptance:
        """Give the accepted path and the token that follows it."""
        ...
