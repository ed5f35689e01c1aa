"""A 70B checkpoint of headers only: sparse files as large as the real ones."""

import json
import math
from pathlib import Path

from tests.models.tiny import write_tokenizer

LAYERS, WIDTH, INNER, ROWS, HEADS, KV_HEADS, HEAD = 80, 8192, 28672, 128256, 64, 8, 128
SHARDS = 30
PARAMETERS = 70_553_706_496
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "hidden_size": WIDTH,
    "intermediate_size": INNER,
    "vocab_size": ROWS,
    "max_position_embeddings": 131072,
    "rope_theta": 500000.0,
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
"""https://huggingface.co/meta-llama/Llama-3.1-70B-Instruct, config.json."""


def shapes():
    """Shape of each tensor, in the order of the shards."""
    kv = KV_HEADS * HEAD
    layer = {
        "input_layernorm": (WIDTH,),
        "mlp.down_proj": (WIDTH, INNER),
        "mlp.gate_proj": (INNER, WIDTH),
        "mlp.up_proj": (INNER, WIDTH),
        "post_attention_layernorm": (WIDTH,),
        "self_attn.k_proj": (kv, WIDTH),
        "self_attn.o_proj": (WIDTH, WIDTH),
        "self_attn.q_proj": (WIDTH, WIDTH),
        "self_attn.v_proj": (kv, WIDTH),
    }
    yield "model.embed_tokens.weight", (ROWS, WIDTH)
    for number in range(LAYERS):
        for name, shape in layer.items():
            yield f"model.layers.{number}.{name}.weight", shape
    yield "model.norm.weight", (WIDTH,)
    yield "lm_head.weight", (ROWS, WIDTH)


BYTES = {"BF16": 2, "F16": 2, "F8_E4M3": 1, "U8": 1, "I32": 4, "F32": 4, "I64": 8}


def write_sparse(path, tensors, dtype="BF16"):
    """Write a safetensors file whose weights take no space: a hole of their size."""
    header, end = {}, 0
    for name, given in tensors.items():
        typed = bool(given) and isinstance(given[0], str)
        kind, shape = given if typed else (dtype, given)
        begin, end = end, end + math.prod(shape) * BYTES[kind]
        place = {"shape": list(shape), "data_offsets": [begin, end]}
        header[name] = {"dtype": kind, **place}
    text = json.dumps(header).encode()
    with path.open("wb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        stream.truncate(8 + len(text) + end)


def write_headers(directory, config, tensors, *, shards=1, dtype="BF16") -> Path:
    """Write a configuration, and weights that are headers only.

    :param tensors: name → shape, or (dtype, shape).
    """
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_text(json.dumps(config))
    if shards == 1:
        write_sparse(directory / "model.safetensors", tensors, dtype)
        return directory
    named, places = list(tensors.items()), {}
    for number in range(shards):
        file = f"model-{number + 1:05}-of-{shards:05}.safetensors"
        first, last = (len(named) * n // shards for n in (number, number + 1))
        part = dict(named[first:last])
        write_sparse(directory / file, part, dtype)
        places |= dict.fromkeys(part, file)
    index = {"metadata": {}, "weight_map": places}
    (directory / "model.safetensors.index.json").write_text(json.dumps(index))
    return directory


def write_llama_70b(directory) -> Path:
    """Write Llama-3.1-70B in thirty sparse shards: 141 GB that take no space."""
    write_headers(directory, CONFIG, dict(shapes()), shards=SHARDS)
    write_tokenizer(directory)
    return directory
