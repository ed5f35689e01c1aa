"""Which keys the LLM API's YAML has: at the top, and in each map inside it."""

from __future__ import annotations

from functools import cache

from packaging.version import Version

from trtspec.trtllm.facts.families import family_of
from trtspec.trtllm.facts.read import document, entries, established
from trtspec.trtllm.facts.records import Key, Named

TOP_LEVEL = "TorchLlmArgs"
"""The class whose fields are the YAML's own keys."""
BASE = "DecodingBaseConfig"
"""What every class of ``speculative_config`` inherits."""
AUTO = "AutoDecodingConfig"
"""Ignores the keys it inherits, so none but its ``decoding_type`` counts."""
SECTIONS = {
    "kv_cache_config": "KvCacheConfig",
    "cuda_graph_config": "CudaGraphConfig",
    "scheduler_config": "SchedulerConfig",
    "moe_config": "MoeConfig",
    "attention_dp_config": "AttentionDpConfig",
    "cache_transceiver_config": "CacheTransceiverConfig",
    "torch_compile_config": "TorchCompileConfig",
}
"""Top-level key → the class of the map under it, but for ``speculative_config``."""


def arg_classes() -> tuple[str, ...]:
    """The classes that the facts describe."""
    return tuple(document("llm_args.json")["classes"])


def speculation_classes() -> tuple[str, ...]:
    """Those that a ``speculative_config`` can be of."""
    described = document("llm_args.json")["classes"]
    return tuple(
        name for name, facts in described.items() if facts.get("decoding_type")
    )


def runs_on_pytorch(class_name: str) -> bool:
    """Whether the backend pytorch takes a class; Medusa and lookahead are refused."""
    described = document("llm_args.json")["classes"][class_name]
    return bool(described.get("pytorch", True))


@cache
def all_keys(class_name: str) -> tuple[Key, ...]:
    """Every key that a class has had, without what it inherits.

    :raises ValueError: a type names a class that the facts do not describe.
    """
    found = entries(document("llm_args.json")["classes"][class_name]["keys"], Key)
    for key in found:
        if key.section and key.section not in arg_classes():
            raise ValueError(f"{class_name}.{key.name}: no class {key.section}")
    return found


def keys(class_name: str, version: Version) -> dict[str, Key]:
    """The keys that a class is known to have in a version, what it inherits included.

    A key of the class itself goes before an inherited one. Keys that the version knows
    and wants gone are in it: see ``Key.deprecated``. Empty for a version of no family.
    """
    if family_of(version) is None:
        return {}
    inherits = class_name in speculation_classes() and class_name != AUTO
    own = all_keys(class_name)
    every = (*all_keys(BASE), *own) if inherits else own
    return {key.name: key for key in established(every, version)}


@cache
def all_decoding_types(class_name: str) -> tuple[Named, ...]:
    """Every spelling of ``decoding_type`` that has stood for a class."""
    described = document("llm_args.json")["classes"][class_name]
    return entries([{"entries": described.get("decoding_type", ())}], Named)


def decoding_type(class_name: str, version: Version) -> str | None:
    """What ``decoding_type`` reads for a class in a version; None if it has none."""
    if family_of(version) is None:
        return None
    found = established(all_decoding_types(class_name), version)
    return found[0].name if found else None


def class_of(spelled: str, version: Version) -> str | None:
    """The class that a ``decoding_type`` stands for in a version."""
    return next(
        (c for c in speculation_classes() if decoding_type(c, version) == spelled), None
    )
