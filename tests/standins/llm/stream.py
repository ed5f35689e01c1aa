"""What does the target say, token by token, for one request? The truth to draft at."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.standins.llm.checkpoint import Checkpoint


@dataclass
class TrueStream:
    """The output of plain decoding in one slot, looked ahead as far as is needed.

    :ivar sampling: None decodes greedily.
    """

    checkpoint: Checkpoint
    slot: int
    prompt: list[int]
    sampling: Any = None
    said: list[int] = field(default_factory=list)
    _chance: Any = None

    def look(self, start: int, count: int) -> list[int]:
        """Output tokens from ``start`` on; fewer where the slot is full."""
        room = self.checkpoint.longest - len(self.prompt)
        while len(self.said) < max(min(start + count, room), 1):
            text = (*self.prompt, *self.said)
            self.said.append(self._choose(self.checkpoint.model.logits(text)))
        return self.said[start : start + count]

    def _choose(self, logits: Any) -> int:
        if self.sampling is None:
            return int(logits.argmax())
        import torch

        from trtspec.reference.chance import SeededChance
        from trtspec.reference.sampling import distribution
        from trtspec.run import SamplingParams

        if self._chance is None:
            self._chance = SeededChance(self.sampling.seed or 0)
        asked = SamplingParams(
            temperature=1.0
            if self.sampling.temperature is None
            else self.sampling.temperature,
            top_k=self.sampling.top_k or 0,
            top_p=1.0 if self.sampling.top_p is None else self.sampling.top_p,
        )
        return int(self._chance.draw(distribution(torch.from_numpy(logits), asked)))


def honoured(params: Any, config: Any, family: str, two_model: bool) -> Any:
    """The sampling that is really done; None for greedy.

    1.0 decodes greedily under every speculation, 1.1 in one-model engines, 1.2 there
    too unless ``allow_advanced_sampling`` is set.
    """
    if params.greedy:
        return None
    if config is None or family == "main":
        return params
    if family == "1.0" or (family == "1.1" and not two_model):
        return None
    if two_model or getattr(config, "allow_advanced_sampling", False):
        return params
    return None
