"""What a model's layers give while it runs: hidden states that drafters read."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

import torch
from torch import Tensor, nn

from trtspec.errors import RunError

FINAL = -1
"""In place of a layer: what the LM head reads, which is after the final norm."""


class Capture:
    """Keeps the hidden states of chosen layers while its ``with`` block runs.

    A layer's state is its output, the residual stream; layers count from 0.

    :raises RunError: if the model has no such layer.
    """

    def __init__(self, model: nn.Module, layers: Sequence[int]) -> None:
        """Hook in.

        :param model: a causal LM of transformers.
        :param layers: ids in the order in which the states are concatenated; ``FINAL``
            for the state that the LM head reads.
        """
        self._layers = tuple(layers)
        self._seen: dict[int, Tensor] = {}
        self._active = False
        self._hooks = [
            _module(model, layer).register_forward_hook(self._keep(layer))
            for layer in dict.fromkeys(layers)
        ]

    def __enter__(self) -> Capture:
        self._seen.clear()
        self._active = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._active = False

    def states(self) -> Tensor:
        """Give the states of the last forward side by side, [rows, n, width]."""
        parts = [self._seen[layer] for layer in self._layers]
        self._seen.clear()
        return parts[0] if len(parts) == 1 else torch.cat(parts, -1)

    def remove(self) -> None:
        """Unhook."""
        for hook in self._hooks:
            hook.remove()

    def _keep(self, layer: int) -> Any:
        def hook(module: nn.Module, arguments: Any, output: Any) -> None:
            if self._active:
                # a layer gives its state, or a tuple or output that begins with it
                first = output if isinstance(output, Tensor) else output[0]
                self._seen[layer] = first

        return hook


def decoder_layers(model: nn.Module) -> nn.ModuleList:
    """Find the decoder layers of a causal LM.

    :raises RunError: if it keeps them in no list.
    """
    count = model.config.get_text_config().num_hidden_layers  # type: ignore[operator,union-attr]
    for module in model.modules():
        if isinstance(module, nn.ModuleList) and len(module) == count:
            return module
    raise RunError(
        f"the decoder layers of {type(model).__name__} are not found",
        allowed="causal LMs of transformers that keep their layers in one list",
        action="use a method that reads no hidden states: ngram, suffix, draft_target",
    )


def _module(model: nn.Module, layer: int) -> nn.Module:
    if layer == FINAL:
        return model.get_decoder()  # type: ignore[operator,no-any-return]
    layers = decoder_layers(model)
    if not 0 <= layer < len(layers):
        raise RunError(
            f"the drafter reads the state of layer {layer}",
            allowed=f"layers 0 to {len(layers) - 1} of this target model",
            action="use a drafter that was trained for this target model",
        )
    return layers[layer]
