"""Writes toy EAGLE heads as public checkpoints have them."""

from __future__ import annotations

import json
from pathlib import Path

from safetensors.torch import save_file
from torch import Tensor

from trtspec.reference.heads.eagle import EagleHead
from trtspec.reference.heads.eagle3 import Eagle3Head
from trtspec.reference.heads.eagle3_layout import published_names


def write(directory: Path, tensors: dict[str, Tensor], config: dict) -> Path:
    """Write tensors and configuration."""
    directory.mkdir(parents=True, exist_ok=True)
    stored = {name: tensor.clone().contiguous() for name, tensor in tensors.items()}
    save_file(stored, directory / "model.safetensors")
    (directory / "config.json").write_text(json.dumps(config))
    return directory


def eagle3_tensors(head: Eagle3Head) -> dict[str, Tensor]:
    """The tensors of a head with one layer, as SafeAILab/EAGLE names them."""
    return published_names(head.state_dict())


def eagle3_config(head: Eagle3Head, **config) -> dict:
    """The configuration of a head, as SafeAILab/EAGLE has it."""
    return {
        **_sizes(head),
        "architectures": ["LlamaForCausalLM"],
        "draft_vocab_size": head.layout.drafted,
        **config,
    }


def write_eagle3(directory: Path, head: Eagle3Head, **config) -> Path:
    """Write a head of one layer as SafeAILab/EAGLE does."""
    return write(directory, eagle3_tensors(head), eagle3_config(head, **config))


def write_trtllm(directory: Path, head: Eagle3Head, **config) -> Path:
    """Write a head of several layers as ``Eagle3DraftModel`` names them."""
    tensors = {
        f"model.{name.replace('layers.', 'midlayer.')}": tensor
        for name, tensor in head.state_dict().items()
        if name != "lm_head.weight"
    }
    for number, reading in enumerate(head.layout.reading):
        if not reading:
            norm = tensors.pop(f"model.midlayer.{number}.input_layernorm.weight")
            tensors[f"model.midlayer.{number}.hidden_norm.weight"] = norm
    tensors["lm_head.weight"] = head.lm_head.weight
    return write(directory, tensors, eagle3_config(head, **config))


def write_speculators(directory: Path, head: Eagle3Head, **config) -> Path:
    """Write a head as the speculators library does."""
    layers = head.config.to_dict()
    whole = {
        "architectures": ["Eagle3Speculator"],
        "speculators_model_type": "eagle3",
        "speculators_config": {"algorithm": "eagle3"},
        "draft_vocab_size": head.layout.drafted,
        "norm_before_residual": head.layout.norm_before_residual,
        "norm_output": head.layout.feeds_normed,
        "transformer_layer_config": layers,
        **config,
    }
    return write(directory, head.state_dict(), whole)


def write_eagle(directory: Path, head: EagleHead, **config) -> Path:
    """Write an EAGLE-1 head as SafeAILab/EAGLE does."""
    return write(directory, head.state_dict(), {**_sizes(head), **config})


def _sizes(head: Eagle3Head | EagleHead) -> dict:
    """Sizes as transformers 4 writes them."""
    config = head.config
    return {
        "model_type": "llama",
        "hidden_size": config.hidden_size,
        "intermediate_size": config.intermediate_size,
        "num_hidden_layers": config.num_hidden_layers,
        "num_attention_heads": config.num_attention_heads,
        "num_key_value_heads": config.num_key_value_heads,
        "vocab_size": config.vocab_size,
        "rms_norm_eps": config.rms_norm_eps,
        "rope_theta": 10000.0,
        "torch_dtype": "float16",
    }
