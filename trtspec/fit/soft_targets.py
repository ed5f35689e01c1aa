"""The loss of a draft step: cross entropy to the target's distribution.

Over thousands of tokens per place it is bound by memory, not arithmetic. So loss and
gradient are computed together, a few places at a time while they are in the cache.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_CACHED_PLACES = 32  # times 8192 tokens in float32: 1 MB; an accelerator takes all


def soft_cross_entropy(logits: Tensor, wanted: Tensor, places: Tensor) -> Tensor:
    """Cross entropy of a draft step's logits to the target's probabilities.

    :param logits: [k, v], in any floating type; computed with in float32.
    :param wanted: probabilities [n, v], float32; no gradient flows to them.
    :param places: row of ``wanted`` for each row of ``logits``, int64 [k].
    :returns: [k], float32.
    """
    loss: Tensor = _SoftCrossEntropy.apply(  # type: ignore[no-untyped-call]
        logits, wanted, places
    )
    return loss


class _SoftCrossEntropy(torch.autograd.Function):
    """d loss / d logits = softmax(logits) - wanted, known as soon as the loss is."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, wanted: Tensor, places: Tensor) -> Tensor:
        losses = torch.empty(len(logits), device=logits.device)
        gradient = torch.empty_like(logits)
        size = _CACHED_PLACES if logits.device.type == "cpu" else max(len(logits), 1)
        for first in range(0, len(logits), size):
            some = slice(first, first + size)
            given, sought = logits[some].float(), wanted[places[some]]
            total = given.logsumexp(-1)
            losses[some] = total - torch.linalg.vecdot(sought, given)
            gradient[some] = given.sub(total[:, None]).exp_().sub_(sought)
        ctx.save_for_backward(gradient)
        return losses

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        (gradient,) = ctx.saved_tensors
        return gradient * upstream[:, None].to(gradient.dtype), None, None
