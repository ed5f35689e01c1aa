"""How a next-token head is fitted: used again and again, on its own states."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from trtspec.fit.batches import Batch
from trtspec.fit.export import export
from trtspec.fit.objective import Compared, Objective
from trtspec.fit.target import Target
from trtspec.fit.unroll import unroll
from trtspec.reference.capture import decoder_layers
from trtspec.reference.heads.mtp import MtpHead
from trtspec.reference.heads.mtp_layouts import DEEPSEEK, find_heads


class MtpObjective(Objective):
    """One next-token head with a layer of the target's kind."""

    def __init__(self, target: Target, steps: int, places: int, often: Tensor) -> None:
        """Make a head that begins as the target's last layer.

        :param places: chains of a batch that a step looks at.
        :param often: ids of the tokens that training compares.
        """
        self.head = MtpHead(target.model, target.embedding, target.lm_head).float()
        self.places = places
        super().__init__(target, self.head, steps, often=often)
        _begin_from_target(self.head, target)
        self.head.to(target.device)

    def guesses(self, batch: Batch, compared: Compared) -> Iterator[Tensor]:
        """The head reads the final state first, then its own."""
        width = self.target.hidden_size
        final = batch.states[:, :-1, -width:].float()
        for given in unroll(self.head, batch, final, self.steps):
            yield nn.functional.linear(given.to(compared.rows.dtype), compared.rows)

    def speculation(self) -> dict[str, Any]:
        """Chains, by one head that is used again and again."""
        return {"method": "mtp", "draft_length": self.steps}

    def stored(self, directory: Path) -> dict[str, Tensor]:
        """Read the first head of a checkpoint."""
        _, heads = find_heads(directory, self.target.layers)
        return heads[0]

    def export(self, directory: Path, weights: dict[str, Tensor]) -> None:
        """Write config.json and model.safetensors with DeepSeek's names."""
        config = {
            **self.target.config.to_dict(),
            "num_nextn_predict_layers": 1,
            "dtype": "bfloat16",
        }
        layer = self.target.layers
        public = {DEEPSEEK.public(name, 0, layer): t for name, t in weights.items()}
        export(directory, config, public)


@torch.no_grad()
def _begin_from_target(head: MtpHead, target: Target) -> None:
    last: Any = decoder_layers(target.model)[-1]
    head.block.load_state_dict(last.state_dict())
    head.norm.weight.copy_(target.final_norm_weight)  # type: ignore[operator]
    size = target.hidden_size
    head.eh_proj.weight.normal_(std=0.02 / size**0.5)
    # the state passes through: with tied weights an embedding would predict itself
    head.eh_proj.weight[:, size:] += torch.eye(size)
