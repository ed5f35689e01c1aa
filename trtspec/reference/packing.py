"""Makes matrix products with few rows fast on a CPU: weights laid out once for oneDNN.

A decode step multiplies a handful of tokens with every weight. PyTorch's plain linear
layer lays each weight out anew for every product; here that is done once, with the
operators that torch.compile uses for frozen weights.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

ROWS = 64
"""Rows per product that the layout is chosen for; measured best of 1, 8 and 64."""

TOLERANCE = {torch.float32: 1e-4, torch.bfloat16: 2e-2}
"""Largest difference in a layer's output, relative to its largest value: rounding."""


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


def is_packed(model: nn.Module) -> bool:
    """Whether any of the layers is packed."""
    return any(isinstance(module, PackedLinear) for module in model.modules())


def can_pack(model: nn.Module) -> bool:
    """Whether this model's weights have a type and a place that can be packed."""
    weight = next(model.parameters())
    return (
        weight.device.type == "cpu"
        and weight.dtype in TOLERANCE
        and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    )


def pack_head(head: nn.Module) -> None:
    """Pack those linear layers of a head that can be; the others stay as they are."""
    if can_pack(head):
        pack_linears(head, try_forward=False)


@torch.no_grad()
def pack_linears(model: nn.Module, *, try_forward: bool = True) -> bool:
    """Pack the plain linear layers in place, one after the other.

    Each is compared with the layer it replaces, whose memory is then free, so that a
    model never needs room for its weights twice. Weights that are tied to another
    layer's, such as the embedding's, are kept for that layer.

    :param try_forward: call the model as a causal LM afterwards.
    :returns: False if a layer cannot be packed, or the forward fails: the model is
        spoiled then, and has to be loaded again.
    """
    try:
        layers = _plain_linears(model)
        while layers:
            parent, name, linear = layers.pop()
            packed = PackedLinear(linear)
            if not _agree(packed, linear):
                return False
            setattr(parent, name, packed)
        if try_forward:
            model(input_ids=torch.tensor([[1, 2, 3]]), use_cache=False)
    except (RuntimeError, AttributeError):
        return False  # this build of torch, or this model, cannot
    return True


def _plain_linears(model: nn.Module) -> list[tuple[nn.Module, str, nn.Linear]]:
    """Find layers of exactly this type: a subclass may compute something else."""
    return [
        (parent, name, child)
        for parent in model.modules()
        for name, child in parent.named_children()
        if type(child) is nn.Linear
    ]


def _agree(packed: PackedLinear, linear: nn.Linear) -> bool:
    """Compare a step's and a prefill's number of rows."""
    weight = linear.weight
    generator = torch.Generator().manual_seed(0)
    for rows in (1, ROWS + 1):
        states = torch.randn(rows, linear.in_features, generator=generator)
        expected = linear(states.to(weight.dtype)).float()
        error = (packed(states.to(weight.dtype)).float() - expected).abs().max()
        if not error <= TOLERANCE[weight.dtype] * expected.abs().max():
            return False
    return True
