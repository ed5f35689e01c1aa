"""Which recipe begins with a method: its keys, and what to write beside them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from trtspec.advise.drafters import Drafter
from trtspec.advise.lengths import Lengths, lengths
from trtspec.advise.starting_points import (
    drafter_context,
    room_for_drafts,
    speculation,
    starting_point,
)
from trtspec.advise.target import Target
from trtspec.advise.workload import WorkloadFacts
from trtspec.models.info import DTYPE_BYTES
from trtspec.recipe.schema import SCHEMA

_LONGEST_NAME = 80
_SMALL = 1_000_000_000
"""Parameters up to which the reference backend computes in float32, where near ties
have not changed a token."""
_TREES = ("medusa", "eagle", "redrafter")

Comments = Mapping[tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class Wish:
    """What a recipe is to be for.

    :param prompts: the workload's file, as the recipe is to name it.
    """

    target: Target
    workload: WorkloadFacts | None = None
    prompts: str | None = None


class Way(NamedTuple):
    """One way to speculate."""

    method: str
    drafter: Drafter | None
    backend: str


class Size(NamedTuple):
    """What a recipe is sized for.

    :ivar gpus: that share the target.
    :ivar requests: that run at once; None for a guess.
    """

    gpus: int = 1
    requests: int | None = None


GUESSED = Size()


@dataclass(frozen=True, slots=True)
class Draft:
    """A recipe as keys, and comments by the path of a key.

    :param lengths: where its limits come from.
    :param source: who begins with its parameters of speculation.
    """

    content: Mapping[str, Any]
    comments: Comments
    lengths: Lengths
    source: str


def draft_recipe(wish: Wish, way: Way, size: Size = GUESSED) -> Draft:
    """Write the recipe to begin with, as keys and comments."""
    target = wish.target
    method, drafter, backend = way
    point = starting_point(method, drafter, backend)
    section = speculation(method, drafter, point)
    context = target.info.context_length if target.info else None
    limits = lengths(
        wish.workload,
        context,
        room_for_drafts(section),
        drafter_context(drafter, backend),
    )
    batch = size.requests or (4 if method in _TREES else 8)
    content: dict[str, Any] = {
        "schema": SCHEMA,
        "name": recipe_name(f"{target.name}-{method}"),
        "backend": backend,
        "target": _target(target, backend, size.gpus),
        "speculation": section,
        "limits": {
            "max_batch_size": batch,
            "max_input_tokens": limits.max_input,
            "max_total_tokens": limits.max_total,
            "kv_cache_fraction": 0.85,
        },
        "sampling": {"temperature": 0.0},
    }
    if wish.prompts is not None:
        content["workload"] = {
            "prompts": wish.prompts,
            "output_tokens": limits.output,
            "concurrency": sorted({1, batch}),
        }
    comments: dict[tuple[str, ...], str] = {
        ("speculation", key): text for key, text in point.comments.items()
    }
    if drafter is not None and drafter.model is not None:
        comments["speculation", "model"] = _drafter_told(drafter)
    comments |= _limits_told(limits, size)
    return Draft(content, comments, limits, point.source)


def recipe_name(text: str) -> str:
    """Make a name that a recipe may have of any text."""
    plain = re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._")
    return plain[:_LONGEST_NAME] or "recipe"


def _target(target: Target, backend: str, tensor_parallel: int) -> dict[str, Any]:
    section: dict[str, Any] = {"model": target.text}
    if backend == "tensorrt" and target.info is None and target.family:
        section["family"] = target.family
    section["dtype"] = _dtype(target, backend)
    if tensor_parallel > 1 and backend != "reference":
        section["tensor_parallel"] = tensor_parallel
    return section


def _dtype(target: Target, backend: str) -> str:
    info = target.info
    if backend == "reference" and info is not None and info.parameters <= _SMALL:
        return "float32"
    stored = info.dtype if info is not None else ""
    if backend == "tensorrt" and stored == "float32":
        return "bfloat16"  # engines that take drafts have no float32
    return stored if stored in DTYPE_BYTES else "bfloat16"


def _drafter_told(drafter: Drafter) -> str:
    note = f" ({drafter.note})" if drafter.note else ""
    if drafter.origin == "given":
        return f"given; {drafter.told_by}{note}"
    seen = "here, looked at" if drafter.is_here else "not verified on this machine"
    return f"published: {drafter.told_by}{note}; {seen}"


def _limits_told(limits: Lengths, size: Size) -> dict[tuple[str, ...], str]:
    batch = "a guess" if size.requests is None else "as many as fit at full length"
    return {
        ("target", "tensor_parallel"): "GPUs: the fewest that hold it, as check plans",
        ("limits", "max_batch_size"): f"requests that run at once: {batch}",
        ("limits", "max_input_tokens"): limits.input_told,
        ("limits", "max_total_tokens"): limits.total_told,
        ("limits", "kv_cache_fraction"): "of the memory that the weights leave free",
        ("workload", "concurrency"): "requests kept in flight, one measurement each",
    }
