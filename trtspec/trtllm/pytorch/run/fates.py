"""What a release does with a control under speculation, in place of honouring it."""

from __future__ import annotations

from collections.abc import Mapping

from packaging.version import Version

from trtspec.errors import Problem
from trtspec.trtllm.facts.controls import Fate, sampling_controls
from trtspec.trtllm.facts.families import FAMILIES, Family, family_of, newest_of
from trtspec.trtllm.pytorch.compile.subject import Shape
from trtspec.trtllm.pytorch.run.control_names import ONE_OUTPUT, PENALTIES
from trtspec.trtllm.pytorch.run.reach import ENGINES, Reach
from trtspec.trtllm.pytorch.run.sampling import GUIDED

UNDRAFTED = "build the same recipe with speculation: {method: none}"
_PENALTY_KEY = "speculative_config.enable_penalty"
_FATES: Mapping[Fate, str] = {
    "dropped": "{} drops it silently under speculation",
    "rejected": "{} rejects it under speculation",
    "partial": "{} gives it in part or not at all under speculation",
    "not established": "whether {} honours it under speculation is not established",
}


def why_unhonoured(name: str, reach: Reach) -> Problem | None:
    """Say what the release would do with a control instead of honouring it."""
    if name == GUIDED:
        return _unguided(reach)
    if reach.shape == "none":
        return _dropped_everywhere(name, reach)
    if name in ONE_OUTPUT:
        return None  # refused anyway, for a reason of ours
    engine = ENGINES[reach.shape]
    control = sampling_controls(reach.version, engine).get(name)
    fate = control.fate if control else "not established"
    if control and fate == "honoured":
        return _untold(name, reach) if control.needs == _PENALTY_KEY else None
    what = _FATES[fate].format(f"TensorRT-LLM {reach.version}")
    note = f" ({control.note})" if control and control.note else ""
    return Problem(
        f"{name} with {reach.method}: {what}{note}", action=_way_on(name, reach)
    )


def _dropped_everywhere(name: str, reach: Reach) -> Problem | None:
    """Refuse penalties where the release has none, with or without drafts."""
    if not _is_dropped_everywhere(name, reach.version):
        return None
    return Problem(
        f"{name}: TensorRT-LLM {reach.version} drops it silently on backend pytorch",
        action=_way_on(name, reach),
    )


def _is_dropped_everywhere(name: str, version: Version) -> bool:
    control = sampling_controls(version, "two-model").get(name)
    return name in PENALTIES and control is not None and control.fate == "dropped"


def _way_on(name: str, reach: Reach) -> str:
    """Say where a control is honoured: in this release without drafts, or in a later.

    A one-model engine of a later release has to be told to apply penalties.
    """
    if not _is_dropped_everywhere(name, reach.version):
        return UNDRAFTED
    later = map(newest_of, FAMILIES)
    honouring = (v for v in later if not _is_dropped_everywhere(name, v))
    version = next((v for v in honouring if v > reach.version), None)
    if version is None:
        return "leave it out: no release honours it"
    told = reach.shape == "one model" and not reach.penalties
    key = ", with pytorch.penalties: true" if told else ""
    return f"leave it out, or build the recipe for TensorRT-LLM {version}{key}"


def _untold(name: str, reach: Reach) -> Problem | None:
    if reach.penalties:
        return None
    return Problem(
        f"{name} with {reach.method}: TensorRT-LLM {reach.version} rejects it unless "
        "the engine was told to apply penalties",
        action=f"write pytorch.penalties: true in the recipe, or {UNDRAFTED}",
    )


_GUIDED_SHAPES: Mapping[Family, tuple[Shape, ...]] = {
    "1.0": ("none",),
    "1.1": ("none", "two models"),
    "1.2": ("none", "one model", "two models"),
    "main": ("none", "one model"),
}
"""Engines that guided decoding works with, by release."""


def _unguided(reach: Reach) -> Problem | None:
    family = family_of(reach.version)
    if family is None or reach.shape not in _GUIDED_SHAPES[family]:
        return Problem(
            f"guided_decoding with {reach.method}: TensorRT-LLM {reach.version} has no "
            "guided decoding for this kind of speculation",
            action=UNDRAFTED,
        )
    if not reach.guides:
        return Problem(
            "guided_decoding: the engine was built without",
            action="write pytorch.guided_decoding: xgrammar in the recipe",
        )
    return None
