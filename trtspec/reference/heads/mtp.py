"""Next-token heads (MTP): one decoder layer of the target's kind each.

A head reads, at position i, the embedding of token i+1 and the state before it, and
predicts token i+2 (arXiv 2412.19437, section 2.2). Where sources differ or the paper is
silent, this is what TensorRT-LLM (tensorrt_llm/_torch/models/modeling_deepseekv3.py),
SGLang (python/sglang/srt/models/deepseek_nextn.py) and transformers
(modeling_layers.py, ``MtpModel``) agree on:

- the first head reads the target's state after the final norm;
- a head's own state, which the next one reads, is taken after its last norm;
- embedding and LM head are the target's, also where a checkpoint holds copies.
"""

from __future__ import annotations

import copy
import inspect
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from trtspec.errors import RunError
from trtspec.reference.capture import decoder_layers
from trtspec.reference.drafters.setup import DrafterSetup
from trtspec.reference.heads.base import (
    HeadOutput,
    Shared,
    cached,
    cast_weights,
    kept,
    positions_for,
)
from trtspec.reference.heads.mtp_layouts import DEEPSEEK, find_heads
from trtspec.reference.heads.stored import fill


class MtpHead(nn.Module):
    """One next-token head of a target model.

    :param target: a causal LM of transformers; the head's layer is of its kind.
    :param embedding: the target's; so is ``lm_head``.
    :param hidden_first: whether the projection takes [state; embedding]; the usual
        order is the reverse.
    :raises RunError: if the target's layers are not built like those of Llama.
    """

    def __init__(
        self,
        target: nn.Module,
        embedding: Shared,
        lm_head: Shared,
        *,
        hidden_first: bool = False,
    ) -> None:
        super().__init__()
        decoder: Any = target.get_decoder()  # type: ignore[operator]
        _require_parts(decoder)
        self.config = head_config(decoder.config)
        self.hidden_first = hidden_first
        size = self.config.hidden_size
        self.enorm = _like(decoder.norm, size)
        self.hnorm = _like(decoder.norm, size)
        self.norm = _like(decoder.norm, size)
        self.eh_proj = nn.Linear(2 * size, size, bias=False)
        self.block = type(decoder_layers(target)[-1])(self.config, 0)
        self.rotary = type(decoder.rotary_emb)(self.config)
        # in a tuple, so that the target's modules do not become the head's own
        self._shared = (embedding, lm_head)

    def forward(
        self,
        input_ids: Tensor,
        *,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        past_key_values: Any = None,
        use_cache: bool = True,
        logits_to_keep: int | Tensor = 0,
        states: Tensor | None = None,
    ) -> HeadOutput:
        """Predict what follows each token.

        :param input_ids: ids [rows, n].
        :param attention_mask: additive [rows, 1, n, columns]; causal if None.
        :param position_ids: [rows, n]; counted from 0 if None.
        :param states: state before each token [rows, n, hidden size]; 0 if None.
        """
        embedding, lm_head = self._shared
        embedded = embedding(input_ids)
        states = torch.zeros_like(embedded) if states is None else states
        parts = (self.enorm(embedded), self.hnorm(states))
        if self.hidden_first:
            parts = parts[::-1]
        hidden = self.eh_proj(torch.cat(parts, -1))
        positions = positions_for(input_ids, position_ids)
        output = self.block(
            hidden,
            attention_mask=attention_mask,
            position_ids=positions,
            use_cache=use_cache,
            position_embeddings=self._rotate(hidden, positions),
            **cached(self.block, past_key_values),
        )
        # a layer gives its state, or (transformers 5.0) a tuple that begins with it
        hidden = self.norm(output if isinstance(output, Tensor) else output[0])
        return HeadOutput(lm_head(kept(hidden, logits_to_keep)), hidden)

    def _rotate(self, hidden: Tensor, positions: Tensor) -> Any:
        """Cosines and sines of the head's layer."""
        if "layer_type" in inspect.signature(self.rotary.forward).parameters:
            return self.rotary(hidden, positions, self.config.layer_types[0])
        return self.rotary(hidden, positions)


def head_config(target_config: Any) -> Any:
    """Describe a head as a model of one layer, as transformers' ``get_mtp_config``.

    A head has full attention where the target has any, and experts where it has them.
    """
    config = copy.deepcopy(target_config)
    config.num_hidden_layers = 1
    if types := getattr(config, "layer_types", None):
        named = getattr(config, "mtp_layer_types", None)
        full = "full_attention" if "full_attention" in types else types[-1]
        config.layer_types = [named[0] if named else full]
    if kinds := getattr(config, "mlp_layer_types", None):
        config.mlp_layer_types = ["sparse" if "sparse" in kinds else kinds[-1]]
    if hasattr(config, "first_k_dense_replace"):
        config.first_k_dense_replace = 0
    return config


def load_mtp(directory: Path, setup: DrafterSetup) -> list[MtpHead]:
    """Load all heads that a checkpoint holds, in the order of what they predict.

    :param directory: the target's own checkpoint, or one with heads alone.
    :raises RunError: if there are none, or their tensors do not fit the target.
    """
    layout, stored = find_heads(directory, setup.layers)
    heads = []
    for number, tensors in enumerate(stored):
        head = MtpHead(
            setup.target,
            setup.embedding,
            setup.lm_head,
            hidden_first=layout.hidden_first,
        )
        public = partial(layout.public, head=number, layers=setup.layers)
        fill(head, tensors, directory, public)
        heads.append(cast_weights(head, setup.dtype, setup.device))
    return heads


def public_tensors(head: MtpHead, layer: int) -> dict[str, Tensor]:
    """Name a head's tensors as in DeepSeek's checkpoints.

    :param layer: the target's number of layers, plus the head's own number from 0.
    """
    return {
        DEEPSEEK.public(name, 0, layer): tensor
        for name, tensor in head.state_dict().items()
    }


def _like(norm: nn.Module, size: int) -> nn.Module:
    """Make a new norm of the kind that the target ends with."""
    epsilon = getattr(norm, "variance_epsilon", None) or norm.eps
    made: nn.Module = type(norm)(size, eps=epsilon)
    return made


def _require_parts(decoder: nn.Module) -> None:
    missing = [part for part in ("norm", "rotary_emb") if not hasattr(decoder, part)]
    if missing:
        raise RunError(
            f"next-token heads cannot be built for {type(decoder).__name__}: it has no "
            f"{missing[0]}",
            allowed="targets built like Llama, Qwen, Mistral or DeepSeek",
            action="use another method for this target model",
        )
