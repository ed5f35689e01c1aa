"""A toy PARD draft model as a drafter."""

from __future__ import annotations

from torch import nn

from tests.reference.toy_heads.setup import toy_setup
from tests.reference.toys import toy_model
from trtspec.methods import Pard
from trtspec.reference.drafters.pard import PardDrafter

MASK = 2


def toy_pard(
    target: nn.Module | None = None,
    slots: int = 4,
    draft_length: int = 4,
    draft: nn.Module | None = None,
    **options,
) -> tuple[PardDrafter, Pard]:
    """Draft with ``draft``, by default the target: its first token is always right."""
    target = toy_model() if target is None else target
    setup = toy_setup(target, slots, **options)
    method = Pard(method="pard", model="./draft", draft_length=draft_length)
    model = setup.slots_for(target if draft is None else draft, draft_length)
    return PardDrafter(model, setup.vocabulary, MASK), method
