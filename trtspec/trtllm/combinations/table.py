"""The table of what goes together: a case per method, a word per feature."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from packaging.version import Version

from trtspec.methods.catalogue import METHODS
from trtspec.trtllm import facts
from trtspec.trtllm.facts.combinations import (
    ONE_MODEL_ONLY,
    OUTSIDE,
    Case,
    Engine,
    Feature,
    Shape,
    combinations,
    features,
    state_of,
)
from trtspec.trtllm.versions import contains

ENGINE_METHODS = ("draft_target", "ngram", "medusa", "eagle", "redrafter", "lookahead")
BY_VALUE = ("compute_capability", "quantization", "draft_precision")
"""Features that depend on a value, and so have no one word."""
NOT_ESTABLISHED = "?"


def shown_features(backend: Engine) -> tuple[Feature, ...]:
    """The features that have a word on a backend."""
    return tuple(
        feature
        for feature in features().values()
        if backend in feature.backends and feature.name not in BY_VALUE
    )


def cases(backend: Engine, version: Version) -> Iterator[Case]:
    """Give each method of a version, once per way in which it drafts."""
    if backend == "tensorrt":
        yield from (Case("tensorrt", version, method) for method in ENGINE_METHODS)
        return
    for method in METHODS:
        shape = _usual_shape(method, version)
        if shape:
            yield Case("pytorch", version, method, shape)
        if shape and method == "eagle3":
            early = not contains(ONE_MODEL_ONLY, version)
            other: Shape = "two models" if early else "one model"
            yield Case("pytorch", version, method, other, tree=not early)


def _usual_shape(method: str, version: Version) -> Shape:
    usual = facts.engine_shape(method, version)
    if usual is None or method == "none":
        return ""
    if method in OUTSIDE:
        return "outside"
    return "two models" if usual == "two-model" else "one model"


def how(case: Case) -> str:
    """Say in which way a method drafts, if it is not the only one."""
    if case.tree:
        return " with a dynamic tree"
    return " as two models" if case.shape == "two models" else ""


def word(case: Case, feature: str) -> str:
    """Give the state of a feature in one word, ``?`` if it is not established."""
    state = state_of(case, feature)
    return NOT_ESTABLISHED if state == "not established" else state


def not_beside(case: Case, feature: str) -> tuple[str, ...]:
    """Titles of the features that spoil this one when both are asked for."""
    everything = replace(case, also=tuple(features()))
    others = {e.also for e in combinations(everything, feature)} & set(features())
    return tuple(sorted(features()[other].title for other in others))
