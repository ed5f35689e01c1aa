"""How Medusa heads are fitted: each on the token one place further ahead."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from torch import Tensor, nn

from trtspec.fit.batches import Batch
from trtspec.fit.export import export
from trtspec.fit.objective import Compared, Objective
from trtspec.fit.target import Target
from trtspec.reference.heads.medusa import PREFIX, MedusaHeads
from trtspec.reference.heads.stored import read_tensors, tensor_names


class MedusaObjective(Objective):
    """Medusa heads that share the target's LM head."""

    def __init__(
        self, target: Target, heads: int, layers: int, places: int, often: Tensor
    ) -> None:
        """Make heads that predict what the target does, at first.

        :param layers: residual layers of each head.
        :param places: chains of a batch that a step looks at.
        :param often: ids of the tokens that training compares.
        """
        self.heads = MedusaHeads(
            heads, layers, target.hidden_size, lm_head=target.lm_head
        ).to(target.device)
        self._layers, self.places = layers, places
        super().__init__(target, self.heads, heads, often=often)

    def guesses(self, batch: Batch, compared: Compared) -> Iterator[Tensor]:
        """All heads read the state before the pending token."""
        width = self.target.hidden_size
        states = batch.states[batch.row, batch.start, -width:].float()
        for step, head in enumerate(self.heads):
            read = head(states[batch.reaching(step)]).to(compared.rows.dtype)
            yield nn.functional.linear(read, compared.rows)

    def speculation(self) -> dict[str, Any]:
        """Only the likeliest token of each head."""
        chain = [[0] * (level + 1) for level in range(self.steps)]
        return {"method": "medusa", "num_heads": self.steps, "tree": chain}

    def stored(self, directory: Path) -> dict[str, Tensor]:
        """Read heads, with or without their usual prefix."""
        names = tensor_names(directory)
        return read_tensors(directory, {n: n.removeprefix(PREFIX) for n in names})

    def export(self, directory: Path, weights: dict[str, Tensor]) -> None:
        """Write config.json and medusa_lm_head.safetensors as FasterDecoding does."""
        config = {
            "model_type": "medusa",
            "architectures": ["MedusaModel"],
            "medusa_num_heads": self.steps,
            "medusa_num_layers": self._layers,
            "hidden_size": self.target.hidden_size,
            "vocab_size": self.target.vocabulary,
            "torch_dtype": "bfloat16",
        }
        export(directory, config, weights, "medusa_lm_head.safetensors")
