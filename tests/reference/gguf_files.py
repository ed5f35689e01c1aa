"""A tiny Llama in a GGUF file, whole enough for transformers to load."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np

from tests.models.tiny import (
    CONTEXT,
    FFN,
    HEAD_SIZE,
    HEADS,
    HIDDEN,
    KV_HEADS,
    LAYERS,
    tensors,
)

TEMPLATE = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
SPECIAL = ("<|end|>", "<|begin|>")
PIECES = ("Ġ", "a", "b", "1", "2", "ab", "Ġa", "Ġab", "ĠĠ", "x", "y", "z", "q", "r")
TOKENS = (*SPECIAL, *PIECES)
MERGES = ("a b", "Ġ a", "Ġ ab", "Ġ Ġ")
_CONTROL, _NORMAL = 3, 1
_NAMES = {
    "model.embed_tokens": "token_embd",
    "model.norm": "output_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
    "model.layers": "blk",
}


def gguf_name(name: str) -> str:
    """Translate a transformers tensor name of a Llama."""
    for theirs, ours in _NAMES.items():
        name = name.replace(theirs, ours)
    return name


def write_gguf(directory: Path, **fields) -> Path:
    """Write the file; ``fields`` are those of its tokenizer. Gives its path."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / "tiny.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_block_count(LAYERS)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_dimension_count(HEAD_SIZE)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(len(TOKENS))
    _add_tokenizer(writer, **fields)
    for name, tensor in tensors().items():
        writer.add_tensor(gguf_name(name), tensor.astype(np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def _add_tokenizer(writer, model="gpt2", pre="smollm", add_bos=None, template=TEMPLATE):
    writer.add_tokenizer_model(model)
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(list(TOKENS))
    writer.add_token_types(
        [_CONTROL if token in SPECIAL else _NORMAL for token in TOKENS]
    )
    writer.add_token_merges(list(MERGES))
    writer.add_eos_token_id(0)
    writer.add_bos_token_id(1)
    if add_bos is not None:
        writer.add_add_bos_token(add_bos)
    if template:
        writer.add_chat_template(template)
