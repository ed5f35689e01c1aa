"""How a chain of draft tokens grows, and how one is chosen all at once."""

from __future__ import annotations

from torch import Tensor

from trtspec.reference.candidates import siblings
from trtspec.reference.drafters.base import DraftContext
from trtspec.reference.tree import NO_DRAFT, DraftTree


class Chain:
    """A request's tokens and the draft tokens chosen so far.

    :param limit: most draft tokens.
    """

    def __init__(self, context: DraftContext, limit: int) -> None:
        self._context = context
        self.known = len(context.tokens)
        self.limit = limit
        self.tokens = list(context.tokens)
        self._proposals: list[Tensor | None] = []

    def extend(self, logits: Tensor) -> None:
        """Choose the next draft token by its logits [vocabulary]."""
        context = self._context
        (token, q), *_ = siblings(logits, 1, context.sampling, context.chance)
        self.tokens.append(token)
        self._proposals.append(q)

    def tree(self) -> DraftTree:
        """Give the draft tokens as a tree."""
        drafted = self.tokens[self.known :]
        return DraftTree.chain(drafted, self._proposals) if drafted else NO_DRAFT


def independent_chain(logits: Tensor, context: DraftContext) -> DraftTree:
    """Choose tokens whose distributions do not depend on each other.

    Each is drawn from its own distribution given the text alone, so that this is its
    proposal, whatever is drawn before it.

    :param logits: [positions, vocabulary]; no more are used than the limit allows.
    """
    chain = Chain(context, context.limit)
    for position in logits[: context.limit]:
        chain.extend(position)
    return chain.tree()
