"""Which target model a drafter is fitted to, and by what its data are recognised."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from trtspec.errors import UsageError
from trtspec.files import sha256_json
from trtspec.models.identity import file_hashes
from trtspec.reference.hf import load_causal_lm

Identity = dict[str, str]
"""SHA-256 of the ``weights`` (with config.json) and of the ``tokenizer``."""


@dataclass(frozen=True, slots=True)
class Target:
    """A causal LM of transformers whose weights stay as they are.

    :param directory: its checkpoint, as safetensors.
    """

    directory: Path
    model: nn.Module

    @property
    def config(self) -> Any:
        """The configuration, of its text part."""
        return self.model.config.get_text_config()  # type: ignore[operator,union-attr]

    @property
    def hidden_size(self) -> int:
        """Width of the hidden states."""
        return int(self.config.hidden_size)

    @property
    def layers(self) -> int:
        """Number of decoder layers."""
        return int(self.config.num_hidden_layers)

    @property
    def vocabulary(self) -> int:
        """Rows of logits."""
        return int(self.config.vocab_size)

    @property
    def device(self) -> torch.device:
        """Where it lives."""
        return next(self.model.parameters()).device

    @property
    def output_weight(self) -> Tensor:
        """Weight of the LM head, [vocabulary, hidden size]."""
        weight: Tensor = self.model.get_output_embeddings().weight  # type: ignore[operator]
        return weight

    @property
    def final_norm_weight(self) -> Tensor:
        """Weight of the norm before the LM head, [hidden size]."""
        weight: Tensor = self.model.get_decoder().norm.weight  # type: ignore[operator]
        return weight

    def embedding(self, tokens: Tensor) -> Tensor:
        """Embed ids [...] as [..., hidden size]."""
        embedded: Tensor = self.model.get_input_embeddings()(tokens)  # type: ignore[operator]
        return embedded

    def lm_head(self, states: Tensor) -> Tensor:
        """Give the logits [..., vocabulary] of final states [..., hidden size]."""
        logits: Tensor = self.model.get_output_embeddings()(states)  # type: ignore[operator]
        return logits


def load_target(directory: Path, dtype: str, device: str) -> Target:
    """Load a target model, frozen.

    :raises UsageError: if there is no checkpoint in safetensors.
    :raises RunError: if transformers cannot load it.
    """
    if not directory.is_dir() or not list(directory.glob("*.safetensors")):
        raise UsageError(
            f"no model in safetensors: {directory}",
            where="--target",
            allowed="a directory with config.json, tokenizer.json and safetensors",
            action="for a GGUF or a hub id: `trtspec build` a recipe of backend "
            "reference, and give the folder target/ of its artifact",
        )
    model = load_causal_lm(directory, dtype, device)
    return Target(directory, model.requires_grad_(requires_grad=False))


def identify(directory: Path) -> Identity:
    """Hash what decides a target's answers."""
    hashes = file_hashes(directory)
    weights = {
        name: digest
        for name, digest in hashes.items()
        if name.endswith(".safetensors") or name == "config.json"
    }
    spoken = {name: hashes[name] for name in hashes if name == "tokenizer.json"}
    return {"weights": sha256_json(weights), "tokenizer": sha256_json(spoken)}
