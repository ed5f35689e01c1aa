"""DFlash: a block of mask tokens attends to the target's hidden states.

Source: arXiv 2602.06036 and z-lab/dflash, ``dflash/model.py``; read the same way by
TensorRT-LLM, tensorrt_llm/_torch/models/modeling_dflash.py. The layers are Qwen3's but
for the attention: keys and values of the text come from the target's states, through
``fc`` and ``hidden_norm``, the same for every layer and without its input norm; queries
come from the block alone, whose tokens all see each other. Embedding and LM head are
the target's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers.models.qwen3.modeling_qwen3 import (
    Qwen3Config,
    Qwen3DecoderLayer,
    Qwen3RMSNorm,
    Qwen3RotaryEmbedding,
    apply_rotary_pos_emb,
)

from trtspec.errors import RunError
from trtspec.models.json_file import read_json_object
from trtspec.reference.heads.base import HeadOutput, Shared, kept, positions_for
from trtspec.reference.heads.stored import fill, read_tensors, tensor_names


class DFlashHead(nn.Module):
    """A block drafter in slots: with states it stores text, without it drafts.

    :param states: number of the target's hidden states that ``fc`` reads.
    :param embedding: the target's; so is ``lm_head``.
    """

    def __init__(
        self, config: Any, states: int, embedding: Shared, lm_head: Shared
    ) -> None:
        super().__init__()
        self.config = config
        size, epsilon = config.hidden_size, config.rms_norm_eps
        self.layers = nn.ModuleList(
            Qwen3DecoderLayer(config, layer)
            for layer in range(config.num_hidden_layers)
        )
        self.norm = Qwen3RMSNorm(size, eps=epsilon)
        self.rotary = Qwen3RotaryEmbedding(config)
        self.fc = nn.Linear(states * size, size, bias=False)
        self.hidden_norm = Qwen3RMSNorm(size, eps=epsilon)
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
        """Store the text's keys and values, or draft a block behind them.

        :param input_ids: the pending token and mask tokens [rows, n]; with ``states``
            only their number counts.
        :param attention_mask: additive [rows, 1, n, columns]; everything if None.
        :param position_ids: [rows, n]; counted from 0 if None.
        :param states: the target's states of n tokens of the text, [rows, n, width].
        :returns: logits of a block; of text there are none, [rows, n, 0].
        """
        embedding, lm_head = self._shared
        positions = positions_for(input_ids, position_ids)
        if states is not None:
            text = self.hidden_norm(self.fc(states))
            rotation = self.rotary(text, positions)
            for layer in self.layers:
                _store(layer.self_attn, text, rotation, past_key_values)
            return HeadOutput(kept(text, logits_to_keep)[..., :0], text)
        hidden = embedding(input_ids)
        rotation = self.rotary(hidden, positions)
        # what the block's last token may see, all of them see
        seen = None if attention_mask is None else attention_mask[:, :, -1:]
        for layer in self.layers:
            hidden = _layer(layer, hidden, rotation, seen, past_key_values)
        hidden = self.norm(hidden)
        return HeadOutput(lm_head(kept(hidden, logits_to_keep)), hidden)


def _layer(
    layer: Any, hidden: Tensor, rotation: Any, seen: Tensor | None, cache: Any
) -> Tensor:
    """Run one layer over a block [rows, n, hidden size]."""
    attention = layer.self_attn
    normed = layer.input_layernorm(hidden)
    queries = attention.q_norm(_heads(attention.q_proj(normed), attention))
    queries = _rotated(queries.transpose(1, 2), rotation)
    keys, values = _store(attention, normed, rotation, cache)
    groups = attention.num_key_value_groups
    attended = scaled_dot_product_attention(
        queries,
        keys.repeat_interleave(groups, 1),
        values.repeat_interleave(groups, 1),
        attn_mask=seen,
        scale=attention.scaling,
    )
    hidden = hidden + attention.o_proj(attended.transpose(1, 2).flatten(2))
    return hidden + layer.mlp(layer.post_attention_layernorm(hidden))  # type: ignore[no-any-return]


def _store(
    attention: Any, read: Tensor, rotation: Any, cache: Any
) -> tuple[Tensor, Tensor]:
    """Make keys and values of ``read`` [rows, n, hidden size] and cache them.

    :returns: all that are cached, [rows, heads, columns, head size].
    """
    keys = attention.k_norm(_heads(attention.k_proj(read), attention))
    keys = _rotated(keys.transpose(1, 2), rotation)
    values = _heads(attention.v_proj(read), attention).transpose(1, 2)
    if cache is None:
        return keys, values
    stored: tuple[Tensor, Tensor] = cache.update(keys, values, attention.layer_idx)
    return stored


def _heads(projected: Tensor, attention: Any) -> Tensor:
    """Split [rows, n, heads x size] into [rows, n, heads, size]."""
    return projected.view(*projected.shape[:2], -1, attention.head_dim)


def _rotated(heads: Tensor, rotation: Any) -> Tensor:
    """Turn queries or keys [rows, heads, n, size] to their positions."""
    rotated: Tensor = apply_rotary_pos_emb(heads, heads, *rotation)[0]
    return rotated


def load_dflash(
    directory: Path, states: int, embedding: Shared, lm_head: Shared
) -> DFlashHead:
    """Load a drafter as z-lab publishes it.

    :param states: number of the target's layers that it reads.
    :raises RunError: if it is of another kind, or its tensors do not fit.
    """
    config = _configuration(directory)
    head = DFlashHead(config, states, embedding, lm_head)
    wanted = {name: name.removeprefix("model.") for name in tensor_names(directory)}
    fill(head, read_tensors(directory, wanted), directory)
    return head


def _configuration(directory: Path) -> Any:
    path = directory / "config.json"
    values = read_json_object(path)
    kind = values.get("model_type")
    if kind != "qwen3":
        raise RunError(
            f"model_type is {kind!r}",
            where=str(path),
            allowed="qwen3, which all published DFlash drafters have",
            action="give the drafter as it was published, or name its own method",
        )
    if values.get("is_causal"):
        raise RunError(
            "is_causal is true",
            where=str(path),
            allowed="a block whose tokens all see each other",
            action="choose a drafter that was trained so",
        )
    config = Qwen3Config.from_dict(values)
    if "sliding_attention" in config.layer_types:
        raise RunError(
            "this DFlash drafter has layers with a sliding window",
            where=str(path),
            allowed="layers with full attention: z-lab's code and TensorRT-LLM do not "
            "agree on what a window hides of a block",
            action="use another drafter or method for this target model",
        )
    return config
