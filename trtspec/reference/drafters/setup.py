"""What a drafter is given when it is opened: the target, and slots to draft in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding

from trtspec.reference.slots import SlotModel


class LoadModel(Protocol):
    """Loads a causal LM into slots of its own."""

    def __call__(self, directory: Path, longest_step: int) -> SlotModel:
        """Load a checkpoint; a step adds at most ``longest_step`` tokens."""
        ...


class SlotsFor(Protocol):
    """Gives a head slots of its own."""

    def __call__(self, head: nn.Module, longest_step: int) -> SlotModel:
        """Take a head in the target's type and on its device."""
        ...


@dataclass(frozen=True, slots=True)
class DrafterSetup:
    """The target model as a drafter sees it, and what it needs to run beside it.

    :param target: a causal LM of transformers.
    :param target_directory: its checkpoint, which may hold heads of its own.
    :param vocabulary: rows of the target's logits.
    :param slots: sequences that run at once.
    :param max_tokens: most tokens of a sequence, prompt and output.
    """

    target: nn.Module
    target_directory: Path
    vocabulary: int
    slots: int
    max_tokens: int
    load_model: LoadModel
    slots_for: SlotsFor

    @property
    def config(self) -> Any:
        """The target's configuration, of its text part."""
        return self.target.config.get_text_config()  # type: ignore[operator,union-attr]

    @property
    def hidden_size(self) -> int:
        """Width of the target's hidden states."""
        return int(self.config.hidden_size)

    @property
    def layers(self) -> int:
        """Number of the target's decoder layers."""
        return int(self.config.num_hidden_layers)

    @property
    def dtype(self) -> torch.dtype:
        """Type of the target's weights."""
        return next(self.target.parameters()).dtype

    @property
    def device(self) -> torch.device:
        """Where the target lives."""
        return next(self.target.parameters()).device

    def embedding(self, tokens: Tensor) -> Tensor:
        """Give the target's embedding of ids [...] as [..., hidden size]."""
        embedded: Tensor = self.target.get_input_embeddings()(tokens)  # type: ignore[operator]
        return embedded

    def stored_embedding(self, tokens: Tensor) -> Tensor:
        """Give the rows of the embedding's weight, not scaled as some models do."""
        return embedding(tokens, self.target.get_input_embeddings().weight)  # type: ignore[operator]

    def lm_head(self, states: Tensor) -> Tensor:
        """Give the target's logits [..., vocabulary] of final states."""
        return scaled_logits(self.output_layer(states), self.config)

    def output_layer(self, states: Tensor) -> Tensor:
        """Give what the LM head's weight alone makes of states [..., hidden size]."""
        product: Tensor = self.target.get_output_embeddings()(states)  # type: ignore[operator]
        return product


def scaled_logits(logits: Tensor, config: Any) -> Tensor:
    """Do with the LM head's output what the model does behind it.

    Granite divides by ``logits_scaling``, Cohere multiplies by ``logit_scale``, Gemma-2
    caps at ``final_logit_softcapping`` (transformers' models of these names).
    """
    if divisor := getattr(config, "logits_scaling", None):
        logits = logits / divisor
    if factor := getattr(config, "logit_scale", None):
        logits = logits * factor
    return soft_capped(logits, getattr(config, "final_logit_softcapping", None))


def soft_capped(logits: Tensor, cap: float | None) -> Tensor:
    """Give cap x tanh(logits / cap); unchanged without a cap."""
    return cap * torch.tanh(logits / cap) if cap else logits
