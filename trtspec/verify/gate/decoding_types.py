"""Which speculation method a ``speculative_config`` of the LLM API stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from packaging.version import Version

from trtspec.methods import (
    Auto,
    DFlash,
    DraftTarget,
    Eagle,
    Eagle3,
    Lookahead,
    Medusa,
    Method,
    Mtp,
    NGram,
    Pard,
    Suffix,
    User,
)
from trtspec.methods.trees import DYNAMIC
from trtspec.trtllm.facts.controls import EngineShape
from trtspec.trtllm.facts.families import family_of

Spec = Mapping[str, Any]
_FOLDER = "drafter"
_OUTSIDE = (
    *("NGramDecodingConfig", "UserProvidedDecodingConfig"),
    "AutoDecodingConfig",
)


def shape_of(
    class_name: str | None, spec: Spec, version: Version | None
) -> EngineShape | None:
    """Say where the drafter runs; None if that is not known."""
    if class_name is None:
        return None
    family = family_of(version) if version else None
    if class_name in _OUTSIDE:
        return "two-model"
    if class_name == "DraftTargetDecodingConfig":
        return "one-model" if family == "main" else "two-model"
    early = family in ("1.0", "1.1", "1.2")
    return "two-model" if early and _asks_for_two(class_name, spec) else "one-model"


def _asks_for_two(class_name: str, spec: Spec) -> bool:
    flag = {
        "EagleDecodingConfig": "eagle3_one_model",
        "MTPDecodingConfig": "mtp_eagle_one_model",
    }.get(class_name, "")
    return spec.get(flag) is False


def method_of(
    class_name: str | None, spec: Spec, version: Version | None
) -> Method | None:
    """Give a method that has the same rules of acceptance; None if none is known.

    Sizes and folders of the result are made up: they change nothing of the rules.
    """
    make = _MAKE.get(class_name or "")
    return make(spec, version) if make else None


def _eagle(spec: Spec, version: Version | None) -> Method:
    """EAGLE-3, or on the TensorRT backend EAGLE-1 and 2 under the same name."""
    main = version is not None and family_of(version) == "main"
    tree: dict[str, Any] = {}
    if main and spec.get("use_dynamic_tree"):
        tree = {"tree": DYNAMIC, "tree_top_k": 1}
    two = shape_of("EagleDecodingConfig", spec, version) == "two-model" and not tree
    return Eagle3(
        method="eagle3",
        model=_FOLDER,
        draft_length=1,
        two_model=True if two else None,
        **tree,
    )


def _mtp(spec: Spec, version: Version | None) -> Method:
    if shape_of("MTPDecodingConfig", spec, version) == "two-model":
        return _draft_target(spec, version)
    given: dict[str, Any] = {}
    if spec.get("use_relaxed_acceptance_for_thinking") is True:
        given = {"acceptance": "relaxed", "relaxed_top_k": 1, "relaxed_delta": 0.0}
    elif spec.get("use_dynamic_tree"):
        given = {"tree": DYNAMIC, "tree_top_k": 1}
    return Mtp(method="mtp", draft_length=1, **given)


def _draft_target(spec: Spec, version: Version | None) -> Method:
    return DraftTarget(method="draft_target", model=_FOLDER, draft_length=1)


def _user(spec: Spec, version: Version | None) -> Method:
    return User(method="user", drafter="of:theirs", draft_length=1)


_MAKE: Mapping[str, Callable[[Spec, Version | None], Method]] = {
    "EagleDecodingConfig": _eagle,
    "Eagle3DecodingConfig": _eagle,
    "MTPDecodingConfig": _mtp,
    "NGramDecodingConfig": lambda s, v: NGram(method="ngram", draft_length=1),
    "SADecodingConfig": lambda s, v: Suffix(method="suffix", draft_length=1),
    "DraftTargetDecodingConfig": _draft_target,
    "PARDDecodingConfig": lambda s, v: Pard(
        method="pard", model=_FOLDER, draft_length=1
    ),
    "DFlashDecodingConfig": lambda s, v: DFlash(
        method="dflash", model=_FOLDER, draft_length=1
    ),
    # a one-model engine like DFlash; its scheduling decides how much is verified
    "DSparkDecodingConfig": lambda s, v: DFlash(
        method="dflash", model=_FOLDER, draft_length=1
    ),
    "UserProvidedDecodingConfig": _user,
    "AutoDecodingConfig": lambda s, v: Auto(method="auto"),
    "MedusaDecodingConfig": lambda s, v: Medusa(method="medusa", model=_FOLDER),
    "LookaheadDecodingConfig": lambda s, v: Lookahead(method="lookahead"),
}
"""Class of ``speculative_config`` → a method with its rules."""


def engine_method(class_name: str | None, spec: Spec) -> Method | None:
    """Give the method that the TensorRT backend runs for a class; None if unknown."""
    if class_name == "EagleDecodingConfig":
        given: dict[str, Any] = {}
        if spec.get("posterior_threshold") is not None:
            given = {"acceptance": "typical", "posterior_threshold": 0.0}
        return Eagle(method="eagle", model=_FOLDER, **given)
    return method_of(class_name, spec, None)
