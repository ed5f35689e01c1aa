"""The decoder layers of EAGLE heads, put together from transformers' own parts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from transformers.models.llama.modeling_llama import (
    LlamaAttention,
    LlamaDecoderLayer,
    LlamaMLP,
    LlamaRMSNorm,
    LlamaRotaryEmbedding,
)
from transformers.models.qwen3.modeling_qwen3 import (
    Qwen3Attention,
    Qwen3DecoderLayer,
    Qwen3MLP,
    Qwen3RMSNorm,
    Qwen3RotaryEmbedding,
)

from trtspec.reference.heads.base import cached


class Parts(NamedTuple):
    """The classes of one family that a head's layers are made of."""

    attention: type[nn.Module]
    layer: type[nn.Module]
    mlp: type[nn.Module]
    norm: type[nn.Module]
    rotary: type[nn.Module]


LLAMA = Parts(
    LlamaAttention, LlamaDecoderLayer, LlamaMLP, LlamaRMSNorm, LlamaRotaryEmbedding
)
QWEN3 = Parts(
    Qwen3Attention, Qwen3DecoderLayer, Qwen3MLP, Qwen3RMSNorm, Qwen3RotaryEmbedding
)
"""As Llama, with a norm on each head's queries and keys."""


class Surroundings(NamedTuple):
    """What every layer of one forward is given besides the states.

    :param mask: additive [rows, 1, n, columns], one per kind of layer, or None.
    :param rotation: cosines and sines of the positions, [rows, n, head size] each.
    :param cache: the slots' cache; None for plain attention.
    """

    mask: Tensor | dict[str, Tensor] | None
    positions: Tensor
    rotation: tuple[Tensor, Tensor]
    cache: Any


class ReadingLayer(nn.Module):
    """EAGLE-3's layer, whose attention reads embedding and state side by side.

    arXiv 2503.01840, section 3; SafeAILab/EAGLE eagle/model/cnets.py.
    """

    def __init__(
        self, config: Any, index: int, parts: Parts, *, norm_before_residual: bool
    ) -> None:
        """Make a layer of the configuration's width.

        :param norm_before_residual: add the attention to the normed state in place of
            the state itself (``norm_before_residual`` of the speculators library).
        """
        super().__init__()
        width, eps = config.hidden_size, config.rms_norm_eps
        self.kind = _kind(config, index)
        self.self_attn = parts.attention(config, index)
        for name in ("q_proj", "k_proj", "v_proj"):
            narrow: nn.Linear = getattr(self.self_attn, name)
            bias = narrow.bias is not None
            wide = nn.Linear(2 * width, narrow.out_features, bias=bias)
            setattr(self.self_attn, name, wide)
        self.mlp = parts.mlp(config)
        self.input_layernorm = parts.norm(width, eps=eps)
        self.hidden_norm = parts.norm(width, eps=eps)
        self.post_attention_layernorm = parts.norm(width, eps=eps)
        self.norm_before_residual = norm_before_residual

    def forward(self, embedded: Tensor, states: Tensor, around: Surroundings) -> Tensor:
        """Give the next states; all are [rows, n, width]."""
        normed = self.hidden_norm(states)
        residual = normed if self.norm_before_residual else states
        attended, _ = self.self_attn(
            hidden_states=torch.cat((self.input_layernorm(embedded), normed), -1),
            attention_mask=mask_for(self.kind, around),
            position_embeddings=around.rotation,
            **cached(self.self_attn, around.cache),
        )
        states = residual + attended
        fed: Tensor = states + self.mlp(self.post_attention_layernorm(states))
        return fed


def plain_layer(config: Any, index: int, parts: Parts) -> nn.Module:
    """Make an ordinary decoder layer of transformers."""
    layer: Any = parts.layer(config, index)
    layer.kind = _kind(config, index)
    return layer  # type: ignore[no-any-return]


def run_plain_layer(layer: nn.Module, states: Tensor, around: Surroundings) -> Tensor:
    """Give the next states [rows, n, width] of an ordinary decoder layer."""
    output = layer(
        states,
        attention_mask=mask_for(str(layer.kind), around),
        position_ids=around.positions,
        position_embeddings=around.rotation,
        use_cache=around.cache is not None,
        **cached(layer, around.cache),
    )
    following: Tensor = output if isinstance(output, Tensor) else output[0]
    return following


def make_layers(
    config: Any, parts: Parts, reading: Sequence[bool], norm_before_residual: bool
) -> nn.ModuleList:
    """Make layers of which some read the embedding too."""
    return nn.ModuleList(
        ReadingLayer(config, index, parts, norm_before_residual=norm_before_residual)
        if reads
        else plain_layer(config, index, parts)
        for index, reads in enumerate(reading)
    )


def run_layers(
    layers: nn.ModuleList, embedded: Tensor, states: Tensor, around: Surroundings
) -> Tensor:
    """Give the states [rows, n, width] after all layers."""
    for layer in layers:
        if isinstance(layer, ReadingLayer):
            states = layer(embedded, states, around)
        else:
            states = run_plain_layer(layer, states, around)
    return states


def mask_for(kind: str, around: Surroundings) -> Tensor | None:
    """Choose the mask of one kind of layer."""
    return around.mask[kind] if isinstance(around.mask, dict) else around.mask


def _kind(config: Any, index: int) -> str:
    kinds = getattr(config, "layer_types", None)
    return str(kinds[index]) if kinds else "full_attention"


def fit_biases(head: nn.Module, stored: Collection[str]) -> None:
    """Give the linear layers a bias where one is stored, and none elsewhere."""
    for name, layer in head.named_modules():
        if isinstance(layer, nn.Linear):
            empty = layer.weight.new_zeros(layer.out_features)
            bias = nn.Parameter(empty) if f"{name}.bias" in stored else None
            layer.register_parameter("bias", bias)
