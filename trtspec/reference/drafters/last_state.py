"""Which state of the target each slot has reached: all that some heads read."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from trtspec.reference.capture import FINAL
from trtspec.reference.drafters.base import BaseDrafter, Observation, move_kept


class LastStateDrafter(BaseDrafter):
    """Keeps the final state of the token before the pending one; to be built upon."""

    reads = (FINAL,)

    def __init__(self) -> None:
        self._last: dict[int, Tensor] = {}

    def observe(self, slot: int, observation: Observation) -> None:
        """Keep the newest state."""
        assert observation.states is not None
        # a copy: a view would hold on to the states of a whole prompt
        self._last[slot] = observation.states[-1].clone()

    def move(self, source: int, target: int) -> None:
        """Take the state along."""
        move_kept(self._last, source, target)

    def release(self, slot: int) -> None:
        """Drop the state."""
        self._last.pop(slot, None)

    def last_states(self, slots: Sequence[int]) -> Tensor:
        """Give the states [slots, hidden size] of observed slots."""
        return torch.stack([self._last[slot] for slot in slots])
