"""Makes matrix products with few rows fast on a CPU: weights laid out once for oneDNN.

A decode step multiplies a handful of tokens with every weight. PyTorch's plain linear
layer lays each weight out anew for every product; here that is done once, with the
operators that torch.compile uses for frozen weights. What they compute is compared with
the plain layers before they are used.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

ROWS = 64
"""Rows per product that the layout is chosen for; measured best from 1 to 64 rows."""

TOLERANCE = {torch.float32: 1e-3, torch.bfloat16: 0.1}
"""Largest difference of any logit, relative to the largest logit."""


class PackedLinear(nn.Module):
    """A linear layer whose weight is stored in oneDNN's layout."""

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.bias = linear.bias
        self._weight = torch.ops.mkldnn._reorder_linear_weight(  # noqa: SLF001
            linear.weight.detach().contiguous(), ROWS
        )

    def forward(self, states: Tensor) -> Tensor:
        """Multiply [..., in] to [..., out]."""
        product: Tensor = torch.ops.mkldnn._linear_pointwise(  # noqa: SLF001
            states, self._weight, self.bias, "none", [], ""
        )
        return product


@torch.no_grad()
def pack_linears(model: nn.Module) -> bool:
    """Pack every plain linear layer in place, if that works and changes nothing.

    :returns: whether it was done; otherwise the model is as it was.
    """
    weight = next(model.parameters())
    if weight.device.type != "cpu" or weight.dtype not in TOLERANCE:
        return False
    if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
        return False
    expected = _probe(model)
    plain = _plain_linears(model)
    try:
        for parent, name, linear in plain:
            setattr(parent, name, PackedLinear(linear))
        error = (_probe(model) - expected).abs().max() / expected.abs().max()
        same = bool(error <= TOLERANCE[weight.dtype])
    except (RuntimeError, AttributeError):
        same = False  # this build of torch, or this model, cannot
    if not same:
        for parent, name, linear in plain:
            setattr(parent, name, linear)
    return same


def _plain_linears(model: nn.Module) -> list[tuple[nn.Module, str, nn.Linear]]:
    """Find layers of exactly this type: a subclass may compute something else."""
    return [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
        if type(child) is nn.Linear
    ]


def _probe(model: nn.Module) -> Tensor:
    """Logits of a short text, [3, vocabulary] in float32."""
    output = model(input_ids=torch.tensor([[1, 2, 3]]), use_cache=False)
    logits: Tensor = output.logits[0].float()
    return logits
