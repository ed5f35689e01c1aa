"""What a directory of TensorRT-LLM's is: an engine, or a checkpoint to make one of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from trtspec.errors import Problem
from trtspec.models.config import CONFIG
from trtspec.models.inspection import Inspection
from trtspec.models.inspection_facts import Fact
from trtspec.models.json_file import read_json_object
from trtspec.models.stored_record import attempt
from trtspec.trtllm import facts
from trtspec.trtllm.engine.engine_config import EngineConfig, read_engine

_MODEL, _BUILD = "pretrained_config", "build_config"
_CHECKPOINT_KEYS = ("architecture", "mapping", "quantization")
_HEADS = ("num_medusa_heads", "num_medusa_layers", "num_eagle_layers", "max_draft_len")


def inspect_tensorrt(directory: Path) -> Inspection | None:
    """Tell what TensorRT-LLM wrote here; None if it is nothing of its.

    :raises RunError: if an engine's configuration cannot be understood.
    """
    config = attempt(lambda: read_json_object(directory / CONFIG), []) or {}
    if isinstance(config.get(_MODEL), dict) and isinstance(config.get(_BUILD), dict):
        return _engine(directory, read_engine(directory))
    if all(key in config for key in _CHECKPOINT_KEYS):
        return _checkpoint(directory, config)
    return None


def _engine(directory: Path, engine: EngineConfig) -> Inspection:
    found, absent = _ranks(directory, "rank{}.engine", engine.tp_size)
    return Inspection(
        directory=directory,
        kind=None,
        title="TensorRT-LLM engine",
        told_by=f"{CONFIG} has {_MODEL} and {_BUILD}",
        facts=(*_engine_facts(engine), _files(found, absent)),
        problems=_missing(directory, absent, "build the engine again"),
    )


def _engine_facts(engine: EngineConfig) -> Iterator[Fact]:
    yield Fact("version", f"TensorRT-LLM {engine.version}", engine.version)
    yield Fact("architecture", engine.architecture, engine.architecture)
    yield Fact("dtype", engine.dtype, engine.dtype)
    quantization = {"weights": engine.quant, "kv_cache": engine.kv_cache_quant}
    text = f"{engine.quant or 'none'}; KV cache {engine.kv_cache_quant or engine.dtype}"
    yield Fact("quantization", text, quantization)
    mode = _mode(engine.mode)
    yield Fact("speculation", mode, {"mode": mode, "bits": engine.mode})
    text = f"up to {engine.max_draft_len} draft tokens per request and step"
    if not engine.max_draft_len:
        text = "none: built without drafts"
    yield Fact("draft_capacity", text, engine.max_draft_len)
    sizes = {
        "requests": engine.max_batch_size,
        "input": engine.max_input_len,
        "sequence": engine.max_seq_len,
        "tokens_per_step": engine.max_num_tokens,
        "beams": engine.max_beam_width,
    }
    text = (
        f"{engine.max_batch_size} requests; {engine.max_input_len} prompt tokens, "
        f"{engine.max_seq_len} in all; {engine.max_num_tokens} tokens per step"
    )
    yield Fact("limits", text, sizes)
    yield Fact("vocabulary", f"{engine.vocab_size} rows", engine.vocab_size)
    for key, value in engine.extras.items():
        yield Fact(key, f"{value}", value)


def _mode(bits: int) -> str:
    named = {number: name for name, number in facts.modes().items()}
    return named.get(bits, f"mode {bits}, which is not known here")


def _checkpoint(directory: Path, config: Mapping[str, Any]) -> Inspection:
    mapping = config["mapping"] if isinstance(config["mapping"], dict) else {}
    quantized = config["quantization"]
    quantization = quantized if isinstance(quantized, dict) else {}
    world = mapping.get("world_size") or mapping.get("tp_size")
    ranks = world if type(world) is int and world > 0 else 1
    found, absent = _ranks(directory, "rank{}.safetensors", ranks)
    version = config.get("version", "not named")
    algorithm = quantization.get("quant_algo")
    cache = quantization.get("kv_cache_quant_algo")
    plain = ("num_hidden_layers", "hidden_size", "vocab_size", *_HEADS)
    return Inspection(
        directory=directory,
        kind=None,
        title="TensorRT-LLM checkpoint, to build an engine of",
        told_by=f"{CONFIG} has {', '.join(_CHECKPOINT_KEYS)}",
        facts=(
            Fact("version", f"{version}", version),
            Fact("architecture", f"{config['architecture']}", config["architecture"]),
            Fact("dtype", f"{config.get('dtype')}", config.get("dtype")),
            Fact(
                "quantization",
                f"{algorithm or 'none'}; KV cache {cache or config.get('dtype')}",
                {"weights": algorithm, "kv_cache": cache},
            ),
            *(
                Fact(key, f"{config[key]}", config[key])
                for key in plain
                if key in config
            ),
            _files(found, absent),
        ),
        problems=_missing(directory, absent, "convert the checkpoint again"),
    )


def _ranks(directory: Path, form: str, count: int) -> tuple[list[str], list[str]]:
    """Give the files per rank that are there, and those that are not."""
    names = [form.format(rank) for rank in range(min(count, 4096))]
    found = [name for name in names if (directory / name).is_file()]
    return found, [name for name in names if name not in found]


def _files(found: list[str], absent: list[str]) -> Fact:
    whole = "complete" if not absent else f"missing: {', '.join(absent[:3])}"
    value = {"files": found, "missing": absent, "complete": not absent}
    return Fact(
        "weights", f"{len(found)} of {len(found) + len(absent)} ranks; {whole}", value
    )


def _missing(directory: Path, absent: list[str], action: str) -> tuple[Problem, ...]:
    if not absent:
        return ()
    what = f"lacks {len(absent)} file(s) of its ranks, first {absent[0]}"
    return (Problem(what, where=str(directory), action=action),)
