"""From logits to the distribution that a request asks to sample from."""

from __future__ import annotations

import torch
from torch import Tensor

from trtspec.run import SamplingParams

_FEW = 1024


def distribution(logits: Tensor, sampling: SamplingParams) -> Tensor:
    """Apply temperature, then top-k, then top-p.

    Tokens that tie with the k-th likeliest are kept. The same function makes the
    target's p and the drafter's q, so both see the same restrictions.

    :param logits: [vocabulary], any floating type.
    :param sampling: with ``temperature`` > 0.
    :returns: probabilities [vocabulary] in float64, on the logits' device, or on the
        CPU for a device without float64.
    """
    if logits.device.type == "mps":
        logits = logits.cpu()
    scaled = logits.double() / sampling.temperature
    if 0 < sampling.top_k < scaled.shape[0]:
        smallest_kept = scaled.topk(sampling.top_k).values[-1]
        scaled = scaled.masked_fill(scaled < smallest_kept, -torch.inf)
    probabilities = scaled.softmax(0)
    return (
        _nucleus(probabilities, sampling.top_p) if sampling.top_p < 1 else probabilities
    )


def _nucleus(probabilities: Tensor, top_p: float) -> Tensor:
    """Keep the smallest set of likeliest tokens whose mass reaches ``top_p``."""
    # nearly always a few tokens have the mass, and a full sort is slow
    ordered, order = probabilities.topk(min(_FEW, probabilities.shape[0]))
    if ordered.sum() < top_p:
        ordered, order = probabilities.sort(descending=True)
    kept = order[ordered.cumsum(0) - ordered < top_p]
    nucleus = torch.zeros_like(probabilities)
    nucleus[kept] = probabilities[kept]
    return nucleus / nucleus.sum()
