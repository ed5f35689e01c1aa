"""Published models by their configurations, without weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trtspec.check.memory.parallel import Parallel
from trtspec.methods import Eagle, Eagle3, NGram
from trtspec.models.config import shape_of
from trtspec.models.drafter import DrafterInfo
from trtspec.models.info import ModelInfo
from trtspec.tune.price.parts import Placed
from trtspec.tune.price.subject import Subject

LLAMA = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_act": "silu",
    "max_position_embeddings": 131072,
    "rms_norm_eps": 1e-5,
    "rope_theta": 500000.0,
    "torch_dtype": "bfloat16",
    "vocab_size": 128256,
    "tie_word_embeddings": False,
}
LLAMA_8B = {
    **LLAMA,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
}
LLAMA_1B = {
    **LLAMA,
    "hidden_size": 2048,
    "intermediate_size": 8192,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 64,
    "tie_word_embeddings": True,
}
LLAMA_70B = {
    **LLAMA,
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
}
QWEN3_8B = {
    **LLAMA,
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "max_position_embeddings": 40960,
    "rope_theta": 1000000,
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
}
EAGLE3_8B = {
    **LLAMA_8B,
    "num_hidden_layers": 1,
    "draft_vocab_size": 32000,
}


def model(directory: Path, config: dict[str, Any], **facts: Any) -> ModelInfo:
    """A dense Llama of a configuration, which is written to a directory."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_text(json.dumps(config))
    shape = shape_of(directory, config, ())
    given = {name: getattr(shape, name) for name in shape.__dataclass_fields__}
    parameters = llama_parameters(config)
    return ModelInfo(
        **{
            **given,
            "tokenizer_entries": None,
            "dtype": "bfloat16",
            "parameters": parameters,
            "weight_bytes": 2 * parameters,
            "format": "safetensors",
            "directory": directory,
            **facts,
        }
    )


def llama_parameters(config: dict[str, Any]) -> int:
    width, inner = config["hidden_size"], config["intermediate_size"]
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    size = config.get("head_dim") or width // heads
    layer = (2 * heads + 2 * kv_heads) * size * width + 3 * width * inner + 2 * width
    tables = 1 if config["tie_word_embeddings"] else 2
    embeddings = tables * config["vocab_size"] * width
    return config["num_hidden_layers"] * layer + embeddings + width


def placed(info: ModelInfo, *, gpus: int = 1, quantization: str = "none") -> Placed:
    cache = "fp8" if quantization == "fp8" else "bfloat16"
    return Placed(info, "bfloat16", quantization, cache, Parallel(gpus))


def eagle3_head(directory: Path, config: dict[str, Any]) -> DrafterInfo:
    """An EAGLE-3 head on three states of a target as wide as it is itself."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "config.json").write_text(json.dumps(config))
    return DrafterInfo(
        kind="eagle3",
        family="llama",
        dtype="bfloat16",
        weight_bytes=0,
        format="safetensors",
        files=(),
        directory=directory,
        layers=1,
        hidden_size=config["hidden_size"],
        width=config["hidden_size"],
        captured_states=3,
        vocabulary_rows=config["draft_vocab_size"],
    )


def ngram(target: Placed, length: int = 8) -> Subject:
    return Subject("toy", NGram(method="ngram", draft_length=length), target)


def eagle3(target: Placed, head: DrafterInfo, length: int = 8) -> Subject:
    method = Eagle3(method="eagle3", model="head", draft_length=length)
    return Subject("toy", method, target, drafter=head)


def eagle_chain(target: Placed, directory: Path, length: int) -> Subject:
    """An EAGLE-1 head with the target's vocabulary, drafting a chain."""
    directory.mkdir(parents=True, exist_ok=True)
    config = {**LLAMA_8B, "num_hidden_layers": 1}
    (directory / "config.json").write_text(json.dumps(config))
    head = DrafterInfo(
        kind="eagle",
        family="llama",
        dtype="bfloat16",
        weight_bytes=0,
        format="safetensors",
        files=(),
        directory=directory,
        layers=1,
        hidden_size=config["hidden_size"],
        vocabulary_rows=config["vocab_size"],
    )
    chain = [[0] * depth for depth in range(1, length + 1)]
    method = Eagle(method="eagle", model="head", num_layers=length, tree=chain)
    return Subject("toy", method, target, drafter=head)
