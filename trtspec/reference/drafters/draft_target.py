"""A smaller causal LM proposes a chain, in KV slots of its own."""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import pad

from trtspec.reference.drafters.base import DraftContext
from trtspec.reference.sampling import distribution
from trtspec.reference.slots import Row, SlotModel
from trtspec.reference.tree import NO_DRAFT, DraftTree

_CATCH_UP = 512  # tokens of a row per forward while the drafter reads a prompt


class DraftModelDrafter:
    """Proposes by running a draft model one token at a time.

    Slot ``i`` of the draft model holds a prefix of the request's tokens followed, after
    a step, by drafts; what was not accepted is cut back before the next step.
    """

    def __init__(self, model: SlotModel, vocabulary: int) -> None:
        """Draft with ``model`` for a target that has ``vocabulary`` rows of logits."""
        self._model = model
        self._vocabulary = vocabulary
        self._cached: list[list[int]] = [[] for _ in model.lengths]
        self.forward_seconds = 0.0

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give one chain per context, drawn from the draft model's distribution."""
        depth = max(context.limit for context in contexts)
        chains: list[list[int]] = [[] for _ in contexts]
        proposals: list[list[Tensor | None]] = [[] for _ in contexts]
        if depth:
            logits = self._read(contexts)
        for position in range(depth):
            for slot, context in enumerate(contexts):
                if position < context.limit:
                    token, q = _choose(logits[slot], context)
                    chains[slot].append(token)
                    proposals[slot].append(q)
            if position + 1 < depth:
                logits = self._forward(
                    [
                        chain[-1:] if position + 1 < context.limit else []
                        for chain, context in zip(chains, contexts, strict=True)
                    ]
                )
        return [
            DraftTree.chain(chain, q) if chain else NO_DRAFT
            for chain, q in zip(chains, proposals, strict=True)
        ]

    def move(self, source: int, target: int) -> None:
        """Take the cached tokens and their keys and values along."""
        self._model.move(source, target)
        self._cached[target] = self._cached[source]
        self.release(source)

    def release(self, slot: int) -> None:
        """Empty the slot."""
        self._cached[slot] = []
        self._model.clear(slot)

    def _read(self, contexts: Sequence[DraftContext]) -> Tensor:
        """Feed what the draft model has not seen; logits after each last token."""
        missing = [
            self._cut_back(slot, context.tokens) if context.limit else []
            for slot, context in enumerate(contexts)
        ]
        while max(len(tokens) for tokens in missing) > _CATCH_UP:
            # leave every row at least its last token for the final forward
            parts = [tokens[: min(_CATCH_UP, len(tokens) - 1)] for tokens in missing]
            self._forward(parts)
            missing = [
                tokens[len(part) :] for tokens, part in zip(missing, parts, strict=True)
            ]
        return self._forward(missing)

    def _cut_back(self, slot: int, tokens: Sequence[int]) -> list[int]:
        """Roll back to what agrees with ``tokens``; give the rest, one at least."""
        cached = self._cached[slot]
        agreed = min(len(cached), len(tokens) - 1)
        while cached[:agreed] != list(tokens[:agreed]):
            agreed -= 1
        del cached[agreed:]
        self._model.roll_back(slot, agreed)
        return list(tokens[agreed:])

    def _forward(self, tokens: list[list[int]]) -> Tensor:
        started = time.perf_counter()
        rows = [Row(self._known(fed)) for fed in tokens]
        logits = self._model.forward(0, rows, last_only=True)
        for slot, fed in enumerate(tokens):
            self._model.keep(slot, range(len(fed)))
            self._cached[slot] += fed
        self.forward_seconds += time.perf_counter() - started
        return self._in_target_vocabulary(logits)

    def _known(self, tokens: list[int]) -> list[int]:
        """Replace ids that the draft model has no row for; its guess may be poorer."""
        return [token if token < self._model.vocabulary else 0 for token in tokens]

    def _in_target_vocabulary(self, logits: Tensor) -> Tensor:
        """Cut or extend [rows, own rows]: padding rows differ between checkpoints."""
        missing = self._vocabulary - logits.shape[1]
        if missing > 0:
            return pad(logits, (0, missing), value=-torch.inf)
        return logits[:, : self._vocabulary]


def _choose(logits: Tensor, context: DraftContext) -> tuple[int, Tensor | None]:
    """Take the likeliest token (a point mass), or draw one and return its q."""
    if context.sampling.greedy:
        return int(logits.argmax()), None
    q = distribution(logits, context.sampling)
    return context.chance.draw(q), q
