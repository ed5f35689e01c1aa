"""A toy drafter whose trees have every kind of candidates: a table says what follows.

It reads only the token before a node, so it costs nothing, and it is wrong often.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from trtspec.methods import Method, Pard
from trtspec.reference.candidates import Candidate, drawn, likeliest
from trtspec.reference.chance import Chance
from trtspec.reference.drafters import BaseDrafter, DraftContext
from trtspec.reference.sampling import distribution
from trtspec.reference.tree import ROOT, DraftTree


def drawn_with_replacement(q: Tensor, count: int, chance: Chance) -> list[Candidate]:
    """Draw every sibling from the same q: a token can come twice."""
    return [Candidate(chance.draw(q), q) for _ in range(count)]


KINDS = {
    "without replacement": drawn,
    "with replacement": drawn_with_replacement,
    "top-k": None,
}
"""How siblings come from q; None for the likeliest, without chance."""


class BigramDrafter(BaseDrafter):
    """Gives a node as many children as ``widths`` says of its level.

    :param table: logits [vocabulary, vocabulary] of what follows each token.
    :param kind: of the candidates: a key of ``KINDS``.
    """

    def __init__(self, table: Tensor, widths: Sequence[int], kind: str) -> None:
        self._table = table
        self._widths = widths
        self._draw = KINDS[kind]

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        return [self._tree(context) for context in contexts]

    def _tree(self, context: DraftContext) -> DraftTree:
        tokens, parents, proposals = [], [], []
        level = [ROOT]
        for width in self._widths[: context.limit]:
            grown = []
            for parent in level:
                last = context.tokens[-1] if parent == ROOT else tokens[parent]
                for token, q in self._siblings(last, width, context):
                    grown.append(len(tokens))
                    tokens.append(token)
                    parents.append(parent)
                    proposals.append(q)
            level = grown
        return DraftTree(tuple(tokens), tuple(parents), tuple(proposals))

    def _siblings(
        self, last: int, count: int, context: DraftContext
    ) -> list[Candidate]:
        if context.sampling.greedy or self._draw is None:
            return likeliest(self._table[last], count)
        q = distribution(self._table[last], context.sampling)
        return self._draw(q, count, context.chance)


def bigram(
    target: nn.Module,
    slots: int,
    kind: str = "without replacement",
    widths: Sequence[int] = (2, 2, 1),
) -> tuple[BigramDrafter, Method]:
    """Draft from a seeded table; the method only says how large a draft can be."""
    size = target.config.vocab_size
    table = torch.randn(size, size, generator=torch.Generator().manual_seed(3)) * 2
    method = Pard(method="pard", model="./draft", draft_length=12)
    return BigramDrafter(table, widths, kind), method
