"""How a small model of the target's kind is made and distilled."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import LlamaConfig, LlamaForCausalLM

from trtspec.errors import UsageError
from trtspec.fit.batches import Batch
from trtspec.fit.export import export
from trtspec.fit.objective import Compared, Objective
from trtspec.fit.target import Target
from trtspec.models.files import SETTINGS
from trtspec.reference.heads.stored import read_tensors, tensor_names

_HEAD_SIZE = 32
_SPOKEN = tuple(name for name in SETTINGS if "quant" not in name)


class DraftModelObjective(Objective):
    """A narrow Llama with the target's whole vocabulary and tokenizer."""

    def __init__(
        self,
        target: Target,
        width: int,
        depth: int,
        steps: int,
        *,
        places: int,
        often: Tensor,
    ) -> None:
        """Make a model whose embedding is the target's, pressed flat.

        :param width: hidden size, a multiple of 32.
        :param depth: decoder layers.
        :param places: chains of a batch that a step looks at.
        :param often: ids of the tokens that training compares.
        """
        if width % _HEAD_SIZE or not 0 < width <= target.hidden_size or depth < 1:
            raise UsageError(
                f"width {width}, depth {depth}",
                where="--width, --depth",
                allowed=f"multiples of {_HEAD_SIZE} up to {target.hidden_size}; 1 and "
                "up",
            )
        self.model = LlamaForCausalLM(small_config(target, width, depth)).float()
        begin_from_embedding(self.model, target)
        self.model.to(target.device)
        self.places = places
        super().__init__(target, self.model, steps, often=often)

    def guesses(self, batch: Batch, compared: Compared) -> Iterator[Tensor]:
        """One forward serves all steps: it sees the right tokens before each."""
        states = self.model.get_decoder()(
            input_ids=batch.tokens[:, :-1], use_cache=False
        ).last_hidden_state
        weight = self.model.get_input_embeddings().weight
        rows = weight if compared.ids is None else weight[compared.ids]
        yield nn.functional.linear(states[batch.row, batch.start + 1], rows)

    def all_right(self, right: Tensor, batch: Batch) -> Tensor:
        """A chain's later steps are its successors' first, where these are known."""
        first, places = right[:, 0], (batch.places(0)).cpu()
        room = batch.room.cpu()
        steps = []
        for step in range(self.steps):
            found = torch.searchsorted(places, places + step).clamp(max=len(places) - 1)
            there = (places[found] == places + step) & (room > step)
            steps.append(first[found] & there)
        return torch.stack(steps, -1)

    def speculation(self) -> dict[str, Any]:
        """Chains."""
        return {"method": "draft_target", "draft_length": self.steps}

    def stored(self, directory: Path) -> dict[str, Tensor]:
        """Read a checkpoint, whose LM head is the embedding."""
        tensors = read_tensors(directory, {n: n for n in tensor_names(directory)})
        if (tied := tensors.get("model.embed_tokens.weight")) is not None:
            tensors.setdefault("lm_head.weight", tied)
        return tensors

    def export(self, directory: Path, weights: dict[str, Tensor]) -> None:
        """Write a checkpoint as transformers does, with the target's tokenizer."""
        directory.mkdir(parents=True, exist_ok=True)
        for pattern in _SPOKEN:
            for path in sorted(self.target.directory.glob(pattern)):
                shutil.copyfile(path, directory / path.name)
        config = {**self.model.config.to_dict(), "dtype": "bfloat16"}
        config["architectures"] = ["LlamaForCausalLM"]
        tied = "lm_head.weight"
        export(directory, config, {n: t for n, t in weights.items() if n != tied})


def small_config(target: Target, width: int, depth: int) -> LlamaConfig:
    """Describe the small model; what text it takes is as in the target's."""
    given: Any = target.config
    heads = width // _HEAD_SIZE
    return LlamaConfig(
        vocab_size=given.vocab_size,
        hidden_size=width,
        intermediate_size=3 * width,
        num_hidden_layers=depth,
        num_attention_heads=heads,
        num_key_value_heads=heads,
        head_dim=_HEAD_SIZE,
        max_position_embeddings=given.max_position_embeddings,
        rms_norm_eps=given.rms_norm_eps,
        bos_token_id=given.bos_token_id,
        eos_token_id=given.eos_token_id,
        pad_token_id=given.pad_token_id,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        tie_word_embeddings=True,
        attn_implementation="sdpa",
    )


@torch.no_grad()
def begin_from_embedding(model: LlamaForCausalLM, target: Target) -> None:
    """Give the model the principal components of the target's output weight."""
    weight = target.output_weight.float().cpu()
    width = model.config.hidden_size
    _, directions = torch.linalg.eigh(weight.T @ weight)
    flat = weight @ directions[:, -width:]
    usual = float(model.config.initializer_range)
    model.get_input_embeddings().weight.copy_(flat * (usual / flat.std()))
