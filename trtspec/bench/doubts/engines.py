"""Whether both arms are the same engine and the same model, but for speculation.

A baseline on another engine, model or precision shows what that change brings, and it
is easily presented as a gain of speculation.
"""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.bench.arms import ArmInfo
from trtspec.bench.cells import Doubt
from trtspec.bench.metrics import ArmData
from trtspec.bench.result import Plan

ENGINE_KEYS = (
    "backend",
    "owned_by",
    "version",
    "tensorrt_llm",
    "torch",
    "transformers",
    "device",
    "device_name",
    "dtype",
    "quantization",
    "threads",
    "tensor_parallel",
    "proxy",
)
"""What an engine says of itself that decides its speed without speculation."""

TARGET_KEYS = ("dtype", "quantization", "tensor_parallel")


def engine_doubts(plan: Plan, on: ArmData, off: ArmData) -> Iterator[Doubt]:
    """Compare the two arms of a comparison, as far as they tell."""
    arms = {arm.name: arm for arm in plan.arms}
    ours, theirs = arms.get(on.arm), arms.get(off.arm)
    if ours is None or theirs is None:
        return
    if differing := list(_differing(ours, theirs)):
        yield Doubt(
            id="different-engines",
            what=f"arm {ours.name} and arm {theirs.name} differ in more than "
            f"speculation: {'; '.join(differing)}; the difference in speed can come "
            "from there",
            fatal=True,
        )
    if ours.endpoint and theirs.endpoint:
        yield from _models(ours, theirs)


def _models(ours: ArmInfo, theirs: ArmInfo) -> Iterator[Doubt]:
    """Names under which a model is served may differ for one and the same model."""
    assert ours.endpoint
    assert theirs.endpoint
    if ours.endpoint.model != theirs.endpoint.model:
        yield Doubt(
            id="different-model-names",
            what=f"arm {ours.name} asked for model {ours.endpoint.model}, arm "
            f"{theirs.name} for {theirs.endpoint.model}; nothing here shows that both "
            "are the same target model",
            fatal=False,
        )


def _differing(ours: ArmInfo, theirs: ArmInfo) -> Iterator[str]:
    for key in ENGINE_KEYS:
        pair = ours.engine.get(key), theirs.engine.get(key)
        if None not in pair and pair[0] != pair[1]:
            yield f"{key} {pair[0]} and {pair[1]}"
    yield from _differing_recipes(ours, theirs)
    if ours.endpoint and theirs.endpoint and ours.endpoint.api != theirs.endpoint.api:
        yield f"requests to {ours.endpoint.api} and {theirs.endpoint.api}"
    if bool(ours.endpoint) != bool(theirs.endpoint):
        yield "a server and an engine in this process"


def _differing_recipes(ours: ArmInfo, theirs: ArmInfo) -> Iterator[str]:
    if ours.artifact is None or theirs.artifact is None:
        return
    left, right = ours.artifact.recipe, theirs.artifact.recipe
    if left.get("backend") != right.get("backend"):
        yield f"recipe backend {left.get('backend')} and {right.get('backend')}"
    targets = left.get("target"), right.get("target")
    if isinstance(targets[0], dict) and isinstance(targets[1], dict):
        for key in TARGET_KEYS:
            if targets[0].get(key) != targets[1].get(key):
                yield f"target {key} {targets[0].get(key)} and {targets[1].get(key)}"
