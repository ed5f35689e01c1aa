"""Small seeded models that the reference engine's tests run on."""

from __future__ import annotations

import functools

import torch
from transformers import AutoConfig, AutoModelForCausalLM

from trtspec.reference.slots import SlotModel

SHAPES = {
    "llama": {"num_key_value_heads": 2, "head_dim": 8},
    "qwen2": {"num_key_value_heads": 2},
    "qwen3": {"num_key_value_heads": 2, "head_dim": 8},
    "mistral": {"num_key_value_heads": 2, "head_dim": 8, "sliding_window": 5},
    "gemma3_text": {
        "num_key_value_heads": 2,
        "head_dim": 8,
        "sliding_window": 4,
        "layer_types": ["sliding_attention", "full_attention"],
    },
    "gpt2": {},
    "gpt_neox": {},
    "phi3": {"num_key_value_heads": 2},
}


@functools.lru_cache(maxsize=32)
def toy_model(family: str = "llama", seed: int = 0, vocabulary: int = 48):
    """Make a 2-layer causal LM in float32 whose logits are well spread."""
    return make_toy(family, seed, vocabulary, **SHAPES[family])


def make_toy(family: str, seed: int = 0, vocabulary: int = 48, **shape):
    """Make one of any family."""
    torch.manual_seed(seed)
    config = AutoConfig.for_model(
        family,
        vocab_size=vocabulary,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=256,
        initializer_range=0.4,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=0,
        **shape,
    )
    # shared by tests through the cache: usable whatever mode the first of them is in
    with torch.inference_mode(False):
        return AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()


def toy_slots(
    family: str = "llama",
    seed: int = 0,
    slots: int = 4,
    max_tokens: int = 96,
    vocabulary: int = 48,
) -> SlotModel:
    """Make a slot model around a toy."""
    model = toy_model(family, seed, vocabulary)
    return SlotModel(model, slots, max_tokens, longest_step=16)


@torch.inference_mode()
def full_logits(tokens, family: str = "llama", seed: int = 0, vocabulary: int = 48):
    """Logits [n, vocabulary] of one plain forward over the whole sequence."""
    model = toy_model(family, seed, vocabulary)
    return model(torch.tensor([list(tokens)]), use_cache=False).logits[0]
