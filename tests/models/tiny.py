"""Tiny checkpoints, as small as they can be and still be whole."""

import json
from pathlib import Path

import gguf
import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer
from tokenizers.models import WordLevel

LAYERS, HEADS, KV_HEADS, HEAD_SIZE, HIDDEN, FFN, ROWS, CONTEXT = (
    2,
    2,
    1,
    4,
    8,
    12,
    16,
    64,
)
TOKENS = tuple(f"t{index}" for index in range(ROWS))
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "hidden_size": HIDDEN,
    "intermediate_size": FFN,
    "vocab_size": ROWS,
    "max_position_embeddings": CONTEXT,
    "tie_word_embeddings": True,
}
LAYER_PARAMETERS = (
    2 * HIDDEN * HEADS * HEAD_SIZE  # query, output
    + 2 * HIDDEN * KV_HEADS * HEAD_SIZE  # key, value
    + 3 * HIDDEN * FFN  # gate, up, down
    + 2 * HIDDEN  # norms
)
PARAMETERS = ROWS * HIDDEN + LAYERS * LAYER_PARAMETERS + HIDDEN


def shapes(layers=LAYERS):
    """Shape of each tensor of a Llama with tied embeddings."""
    kv = KV_HEADS * HEAD_SIZE
    found = {
        "model.embed_tokens.weight": (ROWS, HIDDEN),
        "model.norm.weight": (HIDDEN,),
    }
    for layer in range(layers):
        for name, shape in {
            "self_attn.q_proj": (HIDDEN, HIDDEN),
            "self_attn.k_proj": (kv, HIDDEN),
            "self_attn.v_proj": (kv, HIDDEN),
            "self_attn.o_proj": (HIDDEN, HIDDEN),
            "mlp.gate_proj": (FFN, HIDDEN),
            "mlp.up_proj": (FFN, HIDDEN),
            "mlp.down_proj": (HIDDEN, FFN),
            "input_layernorm": (HIDDEN,),
            "post_attention_layernorm": (HIDDEN,),
        }.items():
            found[f"model.layers.{layer}.{name}.weight"] = shape
    return found


def tensors(dtype="float32", **extra):
    """Seeded weights; ``extra`` adds tensors by name and shape."""
    random = np.random.default_rng(0)
    wanted = {**shapes(), **extra}
    return {
        name: random.normal(size=shape).astype(dtype) for name, shape in wanted.items()
    }


def write_config(directory, **changes):
    """Write ``config.json``; a change to None removes the key."""
    directory.mkdir(parents=True, exist_ok=True)
    config = {k: v for k, v in {**CONFIG, **changes}.items() if v is not None}
    (directory / "config.json").write_text(json.dumps(config))


def write_tokenizer(directory, tokens=TOKENS, added=()):
    """Write ``tokenizer.json`` with these tokens, ids in order."""
    model = WordLevel({t: i for i, t in enumerate(tokens)}, unk_token=tokens[0])
    tokenizer = Tokenizer(model)
    tokenizer.add_special_tokens(list(added))
    tokenizer.save(str(directory / "tokenizer.json"))


def write_checkpoint(directory, *, weights=None, tokens=TOKENS, **changes) -> Path:
    """Write a whole checkpoint in one safetensors file."""
    write_config(directory, **changes)
    write_tokenizer(directory, tokens)
    save_file(weights or tensors(), directory / "model.safetensors")
    return directory


def write_sharded(directory, shards=2) -> Path:
    """Write a whole checkpoint in several safetensors files with an index."""
    write_config(directory)
    write_tokenizer(directory)
    parts = [{} for _ in range(shards)]
    for index, (name, tensor) in enumerate(sorted(tensors().items())):
        parts[index % shards][name] = tensor
    names = [f"model-{n + 1:05}-of-{shards:05}.safetensors" for n in range(shards)]
    for name, part in zip(names, parts, strict=True):
        save_file(part, directory / name)
    weight_map = {
        tensor: name for name, part in zip(names, parts, strict=True) for tensor in part
    }
    index = {"metadata": {}, "weight_map": weight_map}
    (directory / "model.safetensors.index.json").write_text(json.dumps(index))
    return directory


def write_pickled(directory, *, shards=0, size=4 * PARAMETERS, **changes) -> Path:
    """Write a checkpoint with weights that are no pickle: none may ever be opened."""
    write_config(directory, **{"torch_dtype": "float32", **changes})
    write_tokenizer(directory)
    names = [f"pytorch_model-{n + 1:05}-of-{shards:05}.bin" for n in range(shards)]
    for name in names or ["pytorch_model.bin"]:
        (directory / name).write_bytes(b"x" * (size // (shards or 1)))
    if names:
        places = {name: names[n % shards] for n, name in enumerate(sorted(shapes()))}
        index = {"metadata": {"total_size": size}, "weight_map": places}
        (directory / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    return directory


def write_gguf(
    directory,
    *,
    tokens=TOKENS,
    name="tiny.gguf",
    architecture="llama",
    kv_heads=KV_HEADS,
    rows=ROWS,
    quantized=False,
    extra=None,
) -> Path:
    """Write a directory with one GGUF file."""
    directory.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(directory / name, architecture)
    writer.add_block_count(LAYERS)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(FFN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(kv_heads)
    if tokens is not None:
        writer.add_tokenizer_model("gpt2")
        writer.add_token_list(list(tokens))
    if extra:
        extra(writer)
    writer.add_tensor("token_embd.weight", np.zeros((rows, HIDDEN), np.float32))
    writer.add_tensor("blk.0.attn_norm.weight", np.zeros(HIDDEN, np.float32))
    if quantized:
        blocks = gguf.quants.quantize(
            np.ones((64, 32), np.float32), gguf.GGMLQuantizationType.Q4_1
        )
        writer.add_tensor(
            "blk.0.ffn_up.weight", blocks, raw_dtype=gguf.GGMLQuantizationType.Q4_1
        )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return directory
