"""What is exported: an average of the weights over the last steps."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class Average:
    """Exponentially weighted average of a module's weights.

    :param weight: of the past at each step; at first less, so that the beginning is
        forgotten.
    """

    def __init__(self, module: nn.Module, weight: float) -> None:
        self.weight = weight
        self.values = {
            name: tensor.detach().clone()
            for name, tensor in module.state_dict().items()
        }

    @torch.no_grad()
    def update(self, module: nn.Module, step: int) -> None:
        """Take in the weights after a step, counted from 1."""
        past = min(self.weight, step / (step + 10))
        for name, tensor in module.state_dict().items():
            if tensor.is_floating_point():
                self.values[name].lerp_(tensor.detach(), 1 - past)
            else:
                self.values[name].copy_(tensor)

    def load(self, values: dict[str, Tensor]) -> None:
        """Go on from stored values."""
        for name, tensor in values.items():
            self.values[name].copy_(tensor)
