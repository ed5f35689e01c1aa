"""What a ``config.json`` says about a model's shape, whatever names it uses."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trtspec.errors import UsageError
from trtspec.models import traits
from trtspec.models.families import ENCODERS, WITHOUT_ATTENTION
from trtspec.models.info import ModelShape
from trtspec.models.json_file import read_json_object
from trtspec.models.layer_kinds import implied_kinds
from trtspec.models.published import published_quantization
from trtspec.models.rope import require_rope, rope_factor, rope_scaling, rope_theta

CONFIG = "config.json"
OUTPUT_WEIGHT = "lm_head.weight"
_CAUSAL = ("ForCausalLM", "LMHeadModel")
_WITH_TEXT_PART = "ForConditionalGeneration"

_NAMES = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_blocks"),
    "heads": ("num_attention_heads", "n_head", "n_heads"),
    "kv_heads": ("num_key_value_heads", "num_kv_heads"),
    "head_size": ("head_dim",),
    "hidden_size": ("hidden_size", "n_embd", "d_model", "embedding_dim"),
    "intermediate_size": ("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size"),
    "vocabulary_rows": ("vocab_size",),
    "context_length": (
        "max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length",
        "seq_length", "n_ctx",
    ),
}  # fmt: skip
"""Our name of a fact → the names that model families have for it."""


def read_config(directory: Path) -> dict[str, Any]:
    """Read ``config.json``.

    :raises UsageError: if it is missing or damaged, or describes something else than a
        causal language model.
    """
    path = directory / CONFIG
    config = read_json_object(path)
    _refuse_other_models(path, config)
    return config


def shape_of(
    directory: Path, whole: Mapping[str, Any], tensors: Collection[str]
) -> ModelShape:
    """Read a causal LM's shape from its configuration.

    :param whole: the content of ``config.json``.
    :param tensors: names of the stored tensors.
    :raises UsageError: if a fact is missing or makes no sense.
    """
    path = directory / CONFIG
    text = whole.get("text_config")
    facts = _Facts(path, {**whole, **text} if isinstance(text, dict) else whole)
    require_rope(path, facts.config)
    family = str(facts.config.get("model_type") or "unknown")
    heads = 0 if family in WITHOUT_ATTENTION else facts.required("heads")
    hidden_size = facts.required("hidden_size")
    layers, types = facts.required("layers"), traits.layer_types(facts.config)
    return ModelShape(
        family=family,
        architecture=_architecture(whole),
        layers=layers,
        heads=heads,
        kv_heads=_kv_heads(facts, heads),
        head_size=facts.optional("head_size") or _head_size(path, hidden_size, heads),
        hidden_size=hidden_size,
        intermediate_size=facts.optional("intermediate_size"),
        vocabulary_rows=facts.required("vocabulary_rows"),
        context_length=facts.optional("context_length"),
        tied_embeddings=facts.config.get(
            "tie_word_embeddings", OUTPUT_WEIGHT not in tensors
        )
        is True,
        sliding_window=traits.sliding_window(facts.config),
        layer_types=types,
        implied_kinds=() if types else implied_kinds(facts.config, layers),
        **_published(directory, whole),
        alibi=facts.config.get("alibi") is True,
        own_code=traits.own_code(whole),
        rope_theta=rope_theta(facts.config),
        rope_scaling=rope_scaling(facts.config),
        rope_factor=rope_factor(facts.config),
        next_token_heads=traits.next_token_heads(facts.config),
        latent_size=traits.latent_size(facts.config),
        mask_token=traits.mask_token(facts.config),
    )


@dataclass(frozen=True, slots=True)
class _Facts:
    """The numbers in a configuration, under our names."""

    path: Path
    config: Mapping[str, Any]

    def optional(self, fact: str) -> int | None:
        for name in _NAMES[fact]:
            if (value := self.config.get(name)) is not None:
                return self._number(name, value)
        return None

    def required(self, fact: str) -> int:
        if (value := self.optional(fact)) is not None:
            return value
        raise UsageError(
            f"has no {_NAMES[fact][0]}",
            where=str(self.path),
            allowed="a whole number above 0, under one of the names "
            + ", ".join(_NAMES[fact]),
            action="give the configuration the checkpoint was made with",
        )

    def _number(self, name: str, value: object) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        raise UsageError(
            f"{name} is {value!r}",
            where=str(self.path),
            allowed="one whole number above 0 for all layers",
        )


def _architecture(config: Mapping[str, Any]) -> str:
    """Give the model class; without one (it is optional), the family."""
    named = config.get("architectures")
    if isinstance(named, list) and named:
        return str(named[0])
    return str(config.get("model_type") or "unknown")


def _refuse_other_models(path: Path, config: Mapping[str, Any]) -> None:
    architecture = _architecture(config)
    accepted = list(_CAUSAL)
    if isinstance(config.get("text_config"), dict):
        accepted.append(_WITH_TEXT_PART)
    named = bool(config.get("architectures"))
    causal = (
        architecture.endswith(tuple(accepted))
        if named
        else (architecture not in ENCODERS)
    )
    if not causal or config.get("is_encoder_decoder"):
        raise UsageError(
            f"{architecture} is not a causal language model",
            where=str(path),
            allowed="a decoder-only model, architecture ...ForCausalLM",
            action="give a checkpoint that generates text from left to right",
        )


def _kv_heads(facts: _Facts, heads: int) -> int:
    if not heads:
        return 0
    if facts.config.get("multi_query") and not facts.config.get(
        "new_decoder_architecture"
    ):
        return 1  # Falcon 7B and GPT-BigCode share one head without naming the number
    return facts.optional("kv_heads") or heads


def _head_size(path: Path, hidden_size: int, heads: int) -> int:
    if not heads:
        return 0
    if hidden_size % heads:
        raise UsageError(
            f"hidden_size {hidden_size} is no multiple of {heads} attention heads",
            where=str(path),
            allowed="a multiple, or a head_dim of its own",
        )
    return hidden_size // heads


def _published(directory: Path, config: Mapping[str, Any]) -> dict[str, Any]:
    """How the stored weights are quantized: as published, and in a recipe's words."""
    found = published_quantization(directory, config)
    return {
        "quantization": found.named,
        "published_quantization": found.word,
        "published_kv_cache": found.kv_cache,
    }
