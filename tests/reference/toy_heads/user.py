"""A drafter as a user writes it: a small tree, drawn from a distribution of its own."""

from __future__ import annotations

import torch
from torch import nn

from tests.reference.toy_heads.setup import toy_setup
from trtspec.methods import User
from trtspec.reference.candidates import drawn
from trtspec.reference.drafters.user import UserDrafter, open_drafter
from trtspec.reference.tree import NO_DRAFT, ROOT, DraftTree

VOCABULARY = 10


class LikelyAgain:
    """Expects what the text says most often; proposes two tokens, and one below."""

    def propose(self, contexts):
        return [self._tree(context) for context in contexts]

    def _tree(self, context):
        if not context.limit:
            return NO_DRAFT
        q = torch.full((VOCABULARY,), 0.5, dtype=torch.float64)
        q += torch.bincount(torch.tensor(context.tokens), minlength=VOCABULARY)
        first = drawn(q / q.sum(), 2, context.chance)
        below = drawn(q / q.sum(), 1, context.chance) if context.limit > 1 else []
        tokens, proposals = zip(*first, *below, strict=True)
        parents = (ROOT, ROOT, 0)[: len(tokens)]
        return DraftTree(tokens, parents, proposals)


def user(target: nn.Module, slots: int) -> tuple[UserDrafter, User]:
    """Open it as a recipe does."""
    method = User(method="user", drafter=f"{__name__}:LikelyAgain", draft_length=3)
    return open_drafter(method, None, toy_setup(target, slots)), method
