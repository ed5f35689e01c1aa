"""PARD: a draft model with mask tokens proposes all its tokens in one forward.

Source: arXiv 2504.18583 and AMD-AGI/PARD, ``pard/pard_infer.py``: the new tokens are
followed by K-1 mask tokens at the next positions, all under the usual causal mask; the
logits after the last new token and after each mask are the K draft tokens'. The masks'
keys and values are cut off again.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trtspec.errors import RunError
from trtspec.methods import Method, Pard
from trtspec.models.config import CONFIG
from trtspec.models.json_file import read_json_object
from trtspec.models.traits import mask_token
from trtspec.reference.candidates import in_target_vocabulary
from trtspec.reference.drafters.base import DraftContext
from trtspec.reference.drafters.chains import independent_chain
from trtspec.reference.drafters.draft_target import DraftModelDrafter
from trtspec.reference.drafters.setup import DrafterSetup
from trtspec.reference.slots import Row, SlotModel
from trtspec.reference.tree import NO_DRAFT, DraftTree

_FEW = 32  # tokens that are read together with the masks


class PardDrafter(DraftModelDrafter):
    """Proposes a chain whose tokens do not depend on each other.

    Slots hold a prefix of the request's tokens, and never a draft.
    """

    def __init__(self, model: SlotModel, vocabulary: int, mask: int) -> None:
        """Draft with ``model`` for a target that has ``vocabulary`` rows of logits.

        :param mask: id of the mask token.
        """
        super().__init__(model, vocabulary)
        self._mask = mask

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give one chain per context, each position from its own distribution."""
        if not any(context.limit for context in contexts):
            return [NO_DRAFT] * len(contexts)
        missing = self._missing(contexts, _FEW)
        with self.timed_forward():
            rows = [
                Row((*self._known(tokens), *[self._mask] * (context.limit - 1)))
                for tokens, context in zip(missing, contexts, strict=True)
            ]
            logits = self._model.forward(0, rows, last_only=False)
            logits = in_target_vocabulary(logits, self._vocabulary)
        trees = []
        for slot, (tokens, context) in enumerate(zip(missing, contexts, strict=True)):
            self._model.keep(slot, range(len(tokens)))
            self._cached[slot] += tokens
            trees.append(independent_chain(logits[slot, len(tokens) - 1 :], context))
        return trees


def open_drafter(
    method: Method, directory: Path | None, setup: DrafterSetup
) -> PardDrafter:
    """Load the artifact's draft model.

    :raises RunError: if nothing tells its mask token.
    """
    assert isinstance(method, Pard)
    assert directory is not None, "a pard artifact holds a draft model"
    mask = method.mask_token_id
    if mask is None:
        mask = mask_token(read_json_object(directory / CONFIG))
    model = setup.load_model(directory, method.longest_draft)
    if mask is None or mask >= model.vocabulary:
        raise RunError(
            "the draft model's config.json tells no mask token"
            if mask is None
            else f"the mask token is {mask}",
            where=str(directory),
            allowed=f"an id below {model.vocabulary}, the draft model's vocabulary",
            action="write mask_token_id into the recipe, or give a model trained for "
            "PARD",
        )
    return PardDrafter(model, setup.vocabulary, mask)
