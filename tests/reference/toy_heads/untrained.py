"""Drafters that need no head: nothing, the text itself, or another toy model."""

from __future__ import annotations

from torch import nn

from tests.reference.toys import toy_model
from trtspec.methods import DraftTarget, Method, NGram, NoSpeculation
from trtspec.reference.drafters import Drafter
from trtspec.reference.drafters.draft_target import DraftModelDrafter
from trtspec.reference.drafters.ngram import NGramDrafter
from trtspec.reference.slots import SlotModel


def none(target: nn.Module, slots: int) -> tuple[Drafter | None, Method]:
    """Decode plainly."""
    return None, NoSpeculation(method="none")


def ngram(
    target: nn.Module, slots: int, draft_length: int | dict[int, int] = 3
) -> tuple[Drafter, Method]:
    """Look the prompt and the output up."""
    method = NGram(method="ngram", draft_length=draft_length, max_matching_ngram=2)
    return NGramDrafter(method), method


def draft_target(
    target: nn.Module, slots: int, draft_length: int | dict[int, int] = 3
) -> tuple[Drafter, Method]:
    """Draft with a toy of another seed."""
    size = target.config.vocab_size
    method = DraftTarget(method="draft_target", model="./d", draft_length=draft_length)
    model = SlotModel(toy_model(seed=1, vocabulary=size), slots, 96, longest_step=16)
    return DraftModelDrafter(model, size), method
