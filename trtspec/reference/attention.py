"""Attention that reads grouped keys and values where they lie, without copying them.

With grouped queries (arXiv 2305.13245) several query heads share a key head.
transformers repeats keys and values for each of them before it calls PyTorch, which on
a CPU costs more than the attention itself. Here the queries of a group become further
rows of one head, which is the same product.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.integrations.sdpa_attention import sdpa_attention_forward
from transformers.masking_utils import sdpa_mask

NAME = "trtspec_grouped"
PLAIN = "sdpa"
"""transformers' name for PyTorch's own operator."""


def grouped_attention(  # noqa: PLR0917 - transformers calls it in this way
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    **settings: Any,
) -> tuple[Tensor, None]:
    """Attend as PyTorch's scaled dot product does; see ``AttentionInterface``.

    :param query: [rows, heads, n, head size]; ``key`` and ``value`` [rows, key heads,
        columns, head size]; ``attention_mask`` additive [rows, 1, n, columns].
    :returns: [rows, n, heads, head size].
    """
    rows, heads, size, width = query.shape
    groups = heads // key.shape[1]
    unusual = any(
        settings.get(name) is not None for name in ("softcap", "position_bias")
    )
    if attention_mask is None or attention_mask.shape[1] != 1 or groups == 1 or unusual:
        attended, _ = sdpa_attention_forward(
            module, query, key, value, attention_mask, scaling=scaling, **settings
        )
        return attended, None
    columns = attention_mask.shape[-1]
    mask = attention_mask.expand(rows, groups, size, columns)
    attended = scaled_dot_product_attention(
        query.reshape(rows, key.shape[1], groups * size, width),
        key,
        value,
        attn_mask=mask.reshape(rows, 1, groups * size, columns),
        scale=scaling,
    )
    return attended.reshape(rows, heads, size, value.shape[-1]).transpose(1, 2), None


def use_grouped_attention(module: nn.Module) -> None:
    """Let those parts that attend by PyTorch's own operator do it in this way.

    :param module: a model of transformers, or a head with layers of its.
    """
    AttentionInterface.register(NAME, grouped_attention)
    AttentionMaskInterface.register(NAME, sdpa_mask)
    _rename(module, PLAIN, NAME)


@contextmanager
def plain_attention(module: nn.Module) -> Iterator[None]:
    """Let a model attend as transformers would have it, to compare with.

    Some models look at the operator's name and do something else by a new one.
    """
    changed = _rename(module, NAME, PLAIN)
    try:
        yield
    finally:
        if changed:
            _rename(module, PLAIN, NAME)


def _rename(module: nn.Module, old: str, new: str) -> bool:
    """Switch those parts that attend by the operator ``old``; whether there are any."""
    configs: list[Any] = [getattr(part, "config", None) for part in module.modules()]
    found = [c for c in configs if getattr(c, "_attn_implementation", None) == old]
    for config in found:
        config._attn_implementation = new  # noqa: SLF001
    return bool(found)
