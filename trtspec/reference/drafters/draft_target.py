"""A smaller causal LM proposes a chain, in KV slots of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from torch import Tensor

from trtspec.methods import Method
from trtspec.reference.candidates import in_target_vocabulary
from trtspec.reference.drafters.base import BaseDrafter, DraftContext
from trtspec.reference.drafters.chains import Chain
from trtspec.reference.drafters.setup import DrafterSetup
from trtspec.reference.slots import Row, SlotModel
from trtspec.reference.tree import DraftTree

_CATCH_UP = 512  # tokens of a row per forward while the drafter reads a prompt


class DraftModelDrafter(BaseDrafter):
    """Proposes by running a draft model one token at a time.

    Slot ``i`` of the draft model holds a prefix of the request's tokens followed, after
    a step, by drafts; what was not accepted is cut back before the next step.
    """

    def __init__(self, model: SlotModel, vocabulary: int) -> None:
        """Draft with ``model`` for a target that has ``vocabulary`` rows of logits."""
        self._model = model
        self._vocabulary = vocabulary
        self._cached: list[list[int]] = [[] for _ in model.lengths]

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give one chain per context, drawn from the draft model's distribution."""
        chains = [Chain(context, context.limit) for context in contexts]
        unread = self._missing(contexts, _CATCH_UP)
        for position in range(max(chain.limit for chain in chains)):
            logits = self._forward(unread)
            for slot, chain in enumerate(chains):
                if position < chain.limit:
                    chain.extend(logits[slot])
            unread = [
                chain.tokens[-1:] if position + 1 < chain.limit else []
                for chain in chains
            ]
        return [chain.tree() for chain in chains]

    def move(self, source: int, target: int) -> None:
        """Take the cached tokens and their keys and values along."""
        self._model.move(source, target)
        self._cached[target] = self._cached[source]
        self.release(source)

    def release(self, slot: int) -> None:
        """Empty the slot."""
        self._cached[slot] = []
        self._model.clear(slot)

    def _missing(self, contexts: Sequence[DraftContext], most: int) -> list[list[int]]:
        """Bring the slots up to date; give what is left to read, one token at least.

        :param most: most tokens of a slot that are left.
        """
        missing = [
            self._cut_back(slot, context.tokens) if context.limit else []
            for slot, context in enumerate(contexts)
        ]
        while max(len(tokens) for tokens in missing) > most:
            # every row keeps its last token: what follows it is to be drafted
            parts = [tokens[: min(_CATCH_UP, len(tokens) - 1)] for tokens in missing]
            self._forward(parts)
            missing = [
                tokens[len(part) :] for tokens, part in zip(missing, parts, strict=True)
            ]
        return missing

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
        """Read further tokens of each slot; logits after each last one."""
        with self.timed_forward():
            rows = [Row(self._known(fed)) for fed in tokens]
            logits = self._model.forward(0, rows, last_only=True)
            for slot, fed in enumerate(tokens):
                self._model.keep(slot, range(len(fed)))
                self._cached[slot] += fed
        return in_target_vocabulary(logits, self._vocabulary)

    def _known(self, tokens: list[int]) -> list[int]:
        """Replace ids that the draft model has no row for; its guess may be poorer."""
        return [token if token < self._model.vocabulary else 0 for token in tokens]


def open_drafter(
    method: Method, directory: Path | None, setup: DrafterSetup
) -> DraftModelDrafter:
    """Load the artifact's draft model."""
    assert directory is not None, "a draft_target artifact holds a draft model"
    model = setup.load_model(directory, method.longest_draft + 1)
    return DraftModelDrafter(model, setup.vocabulary)
