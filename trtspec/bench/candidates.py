"""Which arms a set of artifacts gives: one is the off arm, the others are compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from trtspec.bench.arms import OFF, ON, Arm, ArmInfo, Subject, control_of
from trtspec.bench.driver import BenchPrompt, Driver
from trtspec.build.artifact import TARGET, Artifact
from trtspec.errors import Problem, UsageError
from trtspec.files import sha256_json
from trtspec.methods import Method
from trtspec.recipe.schema import Recipe
from trtspec.run.inputs import own_speculation

Rendered = tuple[BenchPrompt, ...]


@dataclass(frozen=True, slots=True)
class Engine:
    """An artifact, loaded.

    :param prompts: of the workload, through its own chat template.
    """

    artifact: Artifact
    driver: Driver
    prompts: Rendered


def can_be_off(recipe: Recipe) -> bool:
    """Whether an artifact of the recipe can decode without drafting."""
    if recipe.speculation.method == "none":
        return True
    if recipe.backend == "pytorch":
        return False
    return not (recipe.backend == "tensorrt" and recipe.speculation.always_drafts)


def baseline_of(recipes: Sequence[Recipe]) -> int:
    """Say which artifact is the off arm.

    It is the one with method none; if there is none, the first that can decode without
    drafting.

    :raises UsageError: if nothing can be compared with anything.
    """
    methods = [recipe.speculation.method for recipe in recipes]
    if all(method == "none" for method in methods):
        raise UsageError(
            "method: none is the off arm, so there is nothing to compare it with",
            where=recipes[0].name,
            allowed="an artifact or recipe with a speculation method",
            action="name a recipe that speculates, or both: trtspec bench NONE OTHER",
        )
    if methods.count("none") > 1:
        raise UsageError(
            f"{methods.count('none')} of the artifacts have method none",
            allowed="one off arm",
            action="leave the others out",
        )
    if "none" in methods:
        return methods.index("none")
    for index, recipe in enumerate(recipes):
        if can_be_off(recipe):
            return index
    recipe = recipes[0]
    why = (
        "backend pytorch drafts for every request"
        if recipe.backend == "pytorch"
        else f"an engine for {recipe.speculation.method} cannot decode without drafting"
    )
    raise UsageError(
        f"{why}, so there is no off arm in an artifact of it",
        where=recipe.name,
        allowed="an artifact with method none beside it",
        action="build the same recipe with method: none and name both: "
        "trtspec bench NONE " + recipe.name,
    )


def require_same_target(recipes: Sequence[Recipe]) -> None:
    """Refuse artifacts of different target models or backends.

    :raises UsageError: with what differs.
    """
    first = recipes[0]
    problems = [
        Problem(
            f"{other.name} has {key} {theirs}, {first.name} has {ours}",
            key,
            "artifacts that differ in their speculation only",
            "measure them in runs of their own; trtspec report lists what differs",
        )
        for other in recipes[1:]
        for key, ours, theirs in _differences(first, other)
    ]
    if problems:
        raise UsageError.from_problems(problems)


def _differences(first: Recipe, other: Recipe) -> list[tuple[str, Any, Any]]:
    pairs: list[tuple[str, Any, Any]] = [
        ("backend", first.backend, other.backend),
        *(
            (f"target.{key}", getattr(first.target, key), getattr(other.target, key))
            for key in ("dtype", "quantization", "tensor_parallel")
        ),
    ]
    return [pair for pair in pairs if pair[1] != pair[2]]


def require_same_prompts(engines: Sequence[Engine]) -> None:
    """Refuse artifacts that make different token ids of the same prompts.

    :raises UsageError: with the first prompt that differs.
    """
    first = engines[0]
    for engine in engines[1:]:
        for ours, theirs in zip(first.prompts, engine.prompts, strict=True):
            if ours.tokens != theirs.tokens:
                raise UsageError(
                    f"{engine.artifact.name} and {first.artifact.name} make different "
                    "token ids of it: another tokenizer or chat template",
                    where=f"prompt {ours.id}",
                    allowed="artifacts of one target model",
                )


def arms_of(
    engines: Sequence[Engine], draft_lengths: Sequence[int], *, control: bool
) -> list[Arm]:
    """Give the baseline, its control if wanted, and every candidate.

    :param draft_lengths: each makes an arm of every artifact that speculates.
    :raises UsageError: if an artifact has no draft length of its own, or a shorter one.
    """
    recipes = [engine.artifact.recipe for engine in engines]
    off = engines[baseline_of(recipes)]
    baseline = arm_of(off, OFF, speculate=False)
    arms = [baseline, *([control_of(baseline)] if control else [])]
    speculating = [e for e in engines if e.artifact.recipe.speculation.method != "none"]
    names = names_of([engine.artifact for engine in engines])
    for engine in speculating:
        name = names[engine.artifact.fingerprint]
        if not draft_lengths:
            arms.append(arm_of(engine, name, speculate=True))
        for length in draft_lengths:
            own = _own_length(engine.artifact.recipe, length)
            title = f"draft length {length}"
            many = len(speculating) > 1
            arms.append(arm_of(engine, f"{name}, {title}" if many else title, own=own))
    return arms


def _own_length(recipe: Recipe, length: int) -> Method | None:
    """Give the recipe's method with another draft length.

    :raises UsageError: if the artifact was not built for so long a draft.
    """
    method = recipe.speculation
    own = own_speculation(method, length, None)
    sized = recipe.engine.max_draft_length if recipe.engine else None
    room = max(method.longest_draft, sized or 0)
    if own is not None and own.longest_draft > room:
        raise UsageError(
            f"{recipe.name} was built for drafts of up to {room} tokens",
            where=f"--draft-length {length}",
            allowed=f"1 to {room}",
            action="build a recipe with a larger draft_length",
        )
    return own


def names_of(artifacts: Sequence[Artifact]) -> dict[str, str]:
    """Name each, by fingerprint.

    ``on`` if there is no other; else its recipe, with as much as it needs.
    """
    if len(artifacts) == 1:
        return {artifacts[0].fingerprint: ON}
    short = _without_common_start([a.name for a in artifacts])
    counts = Counter(short)
    return {
        a.fingerprint: name if counts[name] == 1 else f"{name}-{a.fingerprint[:8]}"
        for name, a in zip(short, artifacts, strict=True)
    }


def _without_common_start(names: Sequence[str]) -> list[str]:
    """Drop what all recipes of one target begin with: its name and a hyphen."""
    parts = [name.split("-") for name in names]
    common = 0
    while all(len(p) > common + 1 for p in parts) and (
        len({p[common] for p in parts}) == 1
    ):
        common += 1
    return ["-".join(p[common:]) for p in parts]


def arm_of(
    engine: Engine, name: str, *, speculate: bool = True, own: Method | None = None
) -> Arm:
    """Give an arm of an engine.

    :param own: parameters of the artifact's method for its requests.
    """
    artifact = engine.artifact
    method = own or artifact.recipe.speculation
    shown: dict[str, JsonValue] = {"method": "none"}
    if speculate:
        shown = method.model_dump(mode="json")
    info = ArmInfo(
        name=name,
        role="candidate" if speculate else "baseline",
        artifact=Subject(
            name=artifact.name,
            fingerprint=artifact.fingerprint,
            target_sha256=_target_sha256(artifact),
            recipe=artifact.recipe.model_dump(mode="json", by_alias=True),
        ),
        speculation=shown,
        engine=engine.driver.conditions(),
    )
    return Arm(info, engine.driver, engine.prompts, speculate, own)


def _target_sha256(artifact: Artifact) -> str | None:
    """Hash the target: artifacts name it by its folder, which all call alike."""
    source = artifact.manifest.source.get(TARGET)
    return sha256_json(source.files) if source else None
