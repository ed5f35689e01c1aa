"""What a toy drafter is opened with: a toy target and slots of its size."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn
from transformers import AutoModelForCausalLM

from tests.reference.toys import toy_model
from trtspec.reference.drafters.setup import DrafterSetup
from trtspec.reference.slots import SlotModel


def toy_setup(
    target: nn.Module | None = None,
    slots: int = 4,
    max_tokens: int = 96,
    directory: Path = Path(),
) -> DrafterSetup:
    """Set up drafting for a toy; ``directory`` is the target's checkpoint."""
    target = toy_model() if target is None else target

    def slots_for(model: nn.Module, longest_step: int) -> SlotModel:
        return SlotModel(model, slots, max_tokens, longest_step)

    def load_model(path: Path, longest_step: int) -> SlotModel:
        model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32)
        return slots_for(model, longest_step)

    return DrafterSetup(
        target=target,
        target_directory=directory,
        vocabulary=target.config.vocab_size,
        slots=slots,
        max_tokens=max_tokens,
        load_model=load_model,
        slots_for=slots_for,
    )


@torch.no_grad()
def spread(module: nn.Module, seed: int, scale: float = 0.4) -> nn.Module:
    """Give a module seeded weights whose outputs are well spread; norms stay 1."""
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in sorted(module.named_parameters()):
        if "norm" not in name:
            parameter.normal_(0, scale, generator=generator)
    return module.eval()
