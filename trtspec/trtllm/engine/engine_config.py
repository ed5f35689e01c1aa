"""What an engine directory says of itself in its config.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from trtspec.errors import RunError

CONFIG = "config.json"
_NO_SPECULATION = 1


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """The settings of a built engine; lengths in tokens.

    :param version: TensorRT-LLM that built it.
    :param mode: bit of the speculative decoding mode; 1 is none.
    :param max_seq_len: prompt, output and draft of a sequence together.
    :param kv_cache_quant: quantization of the KV cache, such as FP8; None for none.
    :param quant: quantization of the weights; None for none.
    :param extras: keys of ``pretrained_config`` that a speculation method adds.
    """

    version: str
    architecture: str
    mode: int
    max_draft_len: int
    max_batch_size: int
    max_input_len: int
    max_seq_len: int
    max_num_tokens: int
    max_beam_width: int
    paged_context_fmha: bool
    gather_generation_logits: bool
    kv_cache_quant: str | None
    quant: str | None
    dtype: str
    vocab_size: int
    tp_size: int
    extras: Mapping[str, Any] = field(default_factory=dict)

    @property
    def release(self) -> Version | None:
        """The version that built it; None if it does not name one."""
        try:
            return Version(self.version)
        except InvalidVersion:
            return None


_EXTRAS = (
    "num_medusa_heads",
    "num_medusa_layers",
    "num_eagle_layers",
    "max_non_leaves_per_layer",
    "redrafter_num_beams",
    "redrafter_draft_len_per_beam",
    "redrafter_greedy_search",
)


def read_engine(directory: Path) -> EngineConfig:
    """Read an engine's settings.

    A draft length that only ``pretrained_config`` names counts, as it does for the
    runtime; ReDrafter's is the product of its beams and their length.

    :raises RunError: if the directory holds no engine.
    """
    document = read_json(directory / CONFIG)
    model, built = _part(document, "pretrained_config"), _part(document, "build_config")
    quantization = _part(model, "quantization")
    return EngineConfig(
        version=str(document.get("version", "unknown")),
        architecture=str(model.get("architecture", "")),
        mode=int(built.get("speculative_decoding_mode") or _NO_SPECULATION),
        max_draft_len=_draft_length(model, built),
        max_batch_size=int(built.get("max_batch_size") or 0),
        max_input_len=int(built.get("max_input_len") or 0),
        max_seq_len=int(built.get("max_seq_len") or 0),
        max_num_tokens=int(built.get("max_num_tokens") or 0),
        max_beam_width=int(built.get("max_beam_width") or 1),
        paged_context_fmha=bool(
            _part(built, "plugin_config").get("use_paged_context_fmha")
        ),
        gather_generation_logits=bool(built.get("gather_generation_logits")),
        kv_cache_quant=quantization.get("kv_cache_quant_algo"),
        quant=quantization.get("quant_algo"),
        dtype=str(model.get("dtype", "")),
        vocab_size=int(model.get("vocab_size") or 0),
        tp_size=int(_part(model, "mapping").get("tp_size") or 1),
        extras={key: model[key] for key in _EXTRAS if key in model},
    )


def read_json(path: Path) -> dict[str, Any]:
    """Read a config.json that a tool of TensorRT-LLM wrote.

    :raises RunError: if it is not there or is no JSON object.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RunError(
            f"cannot be read: {error}",
            where=str(path),
            action="build the engine again: trtspec build RECIPE",
        ) from error
    if not isinstance(content, dict):
        raise RunError("holds no JSON object", where=str(path))
    return content


def _part(config: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    part = config.get(key)
    return part if isinstance(part, Mapping) else {}


def _draft_length(model: Mapping[str, Any], built: Mapping[str, Any]) -> int:
    beams = int(model.get("redrafter_num_beams") or 0)
    computed = beams * int(model.get("redrafter_draft_len_per_beam") or 0)
    given = built.get("max_draft_len") or model.get("max_draft_len")
    return int(given or computed)
