"""Which keys of an EAGLE-3 head's config.json TensorRT-LLM needs otherwise.

Only what its sources establish: ``Eagle3DraftModel`` and ``Eagle3ForCausalLM`` in
tensorrt_llm/_torch/models/modeling_speculative.py, ``AutoModelForCausalLM`` in
modeling_auto.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from packaging.version import Version

from trtspec.models.config import CONFIG
from trtspec.models.drafter import DrafterInfo
from trtspec.models.json_file import read_json_object

_FIRST_RENAMING = Version("1.3.0rc22")
"""From here on sources are seen to rename ``layers.0.`` to ``midlayer.``."""


@dataclass(frozen=True, slots=True)
class Change:
    """One key at the top of config.json that a head needs otherwise.

    :param old: what the checkpoint says; None if it says nothing, or null.
    """

    key: str
    old: Any
    new: Any
    why: str


def needed_changes(info: DrafterInfo) -> tuple[Change, ...]:
    """Say what to change in a head's config.json so that it is loaded as it is.

    Pickled heads are never opened: of them only what the configuration itself tells.
    So far each change holds for all releases of backend pytorch.

    :param info: an EAGLE-3 head.
    :raises UsageError: if config.json cannot be read.
    """
    config = read_json_object(info.directory / CONFIG)
    found = (*_vocabulary(info, config), *_width(info, config), *_layers(info, config))
    return tuple(found)


def unread_layers(info: DrafterInfo, version: Version) -> str:
    """Say why the names of a head's layers may not be read; empty if they are.

    The loader puts ``model.`` before every name and builds ``midlayer``. Sources of
    the newest releases rename ``layers.0.`` before; none renames ``model.layers.0.``.

    :param version: of TensorRT-LLM.
    """
    prefix = info.layer_prefix
    if prefix == "model.layers.":
        return "TensorRT-LLM looks for midlayer. or layers., and not for model.layers."
    if prefix == "layers." and version < _FIRST_RENAMING:
        return (
            f"that TensorRT-LLM {version} reads layers. as midlayer. is not established"
        )
    return ""


def _vocabulary(info: DrafterInfo, config: Mapping[str, Any]) -> Iterator[Change]:
    """``draft_vocab_size``: how a head is told, and how ``d2t`` comes to be loaded."""
    size = info.vocabulary_rows
    if size is None or config.get("draft_vocab_size") is not None:
        return
    reduced = size != config.get("vocab_size")
    if reduced or "draft_vocab_size" not in config:
        why = (
            "without it vocab_size is taken, and the table d2t is not loaded"
            if reduced
            else "TensorRT-LLM tells an EAGLE-3 head by this key"
        )
        yield Change("draft_vocab_size", None, size, why)


def _width(info: DrafterInfo, config: Mapping[str, Any]) -> Iterator[Change]:
    """``target_hidden_size``: what ``fc`` reads, where that is not the head's width."""
    given = config.get("target_hidden_size")
    if given is not None or info.hidden_size is None:
        return
    if "target_hidden_size" in config:
        why = "null is taken as a size, and multiplied"
        yield Change("target_hidden_size", None, info.hidden_size, why)
    elif info.hidden_size != info.width:
        why = f"fc.weight reads states of {info.hidden_size}, not of {info.width}"
        yield Change("target_hidden_size", None, info.hidden_size, why)


def _layers(info: DrafterInfo, config: Mapping[str, Any]) -> Iterator[Change]:
    """``num_hidden_layers``: as many layers are built, one of them without index."""
    given = config.get("num_hidden_layers")
    if info.is_counted and info.layers is not None and given != info.layers:
        why = f"the weights hold {info.layers}, and as many as it says are built"
        yield Change("num_hidden_layers", given, info.layers, why)
