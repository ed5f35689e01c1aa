"""What every head has in common, and how it calls transformers' layers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

import torch
from torch import Tensor, nn

from trtspec.reference.hf import cache_argument

HeadT = TypeVar("HeadT", bound=nn.Module)

Shared = Callable[[Tensor], Tensor]
"""Embedding or LM head of the target, which a head has no weights of: ids [...] to
[..., hidden size], or states [..., hidden size] to logits [..., vocabulary]."""


class HeadOutput(NamedTuple):
    """What a head's forward gives.

    :param logits: [rows, n or the kept columns, own vocabulary].
    :param states: what the head reads next to its own tokens, [rows, n, width].
    """

    logits: Tensor
    states: Tensor


def kept(states: Tensor, logits_to_keep: int | Tensor) -> Tensor:
    """Select the columns of [rows, n, width] whose logits are wanted.

    :param logits_to_keep: as in transformers: 0 for all, a number for the last ones, or
        the columns.
    """
    if isinstance(logits_to_keep, Tensor):
        return states[:, logits_to_keep]
    return states[:, -logits_to_keep:]  # -0 is all


def positions_for(tokens: Tensor, positions: Tensor | None) -> Tensor:
    """Give the positions [rows, n]; 0 to n - 1 where none are given."""
    if positions is not None:
        return positions
    return torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)


def cached(module: nn.Module, cache: Any) -> dict[str, Any]:
    """Name the cache as ``module``, a layer or attention of transformers, wants it."""
    return {cache_argument(module): cache}


def cast_weights(head: HeadT, dtype: torch.dtype, device: torch.device) -> HeadT:
    """Bring a head to its place, and its weights to their type.

    Not by ``Module.to(dtype)``: it would round the rotary frequencies, too, which
    transformers keeps in float32.
    """
    for weight in head.parameters():
        weight.data = weight.data.to(dtype)
    return head.to(device).eval()
