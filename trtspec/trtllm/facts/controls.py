"""What becomes of a request's sampling controls under speculation, by version."""

from __future__ import annotations

from functools import cache
from typing import Literal, get_args

from packaging.version import Version
from pydantic import field_validator

from trtspec.trtllm.facts.families import family_of
from trtspec.trtllm.facts.read import document, entries, established
from trtspec.trtllm.facts.records import Fact

EngineShape = Literal["one-model", "two-model"]
"""A one-model engine drafts and verifies in one program. In a two-model engine the
drafts come from outside the target's engine: a model's own, NGram's, or the user's."""
ENGINE_SHAPES: tuple[EngineShape, ...] = get_args(EngineShape)

Fate = Literal["honoured", "dropped", "rejected", "partial", "not established"]
"""dropped: the request runs as if it had not asked; rejected: it is answered with an
error; partial: some of what it asked for is missing."""


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


class Control(Fact):
    """What happens to some controls of a request.

    :ivar names: of ``SamplingParams``.
    :ivar engines: the shapes of engines that it holds for.
    :ivar needs: the YAML key that it depends on; empty if none.
    """

    names: tuple[str, ...]
    engines: tuple[EngineShape, ...]
    fate: Fate
    needs: str = ""

    _lists = field_validator("names", "engines", mode="before")(_as_tuple)


class Shape(Fact):
    """The shape of engine that a speculation method gets unless asked for another."""

    methods: tuple[str, ...]
    shape: EngineShape

    _lists = field_validator("methods", mode="before")(_as_tuple)


@cache
def all_controls() -> tuple[Control, ...]:
    """Everything known about controls, in whatever version."""
    return entries(document("pytorch.json")["controls"], Control)


@cache
def all_shapes() -> tuple[Shape, ...]:
    """Everything known about the shapes of engines, in whatever version."""
    return entries(document("pytorch.json")["shapes"], Shape)


def sampling_controls(version: Version, engine: EngineShape) -> dict[str, Control]:
    """What happens to each control in a version, by its name in ``SamplingParams``.

    A control that is not in it is not established. Empty for a version of no family.
    """
    if family_of(version) is None:
        return {}
    known = established(all_controls(), version)
    return {
        name: control
        for control in known
        if engine in control.engines
        for name in control.names
    }


def engine_shape(method: str, version: Version) -> EngineShape | None:
    """The shape of engine that a method usually gets; None if it gets none.

    :param method: name of a speculation method, such as ``eagle3``.
    """
    if family_of(version) is None:
        return None
    known = established(all_shapes(), version)
    return next((each.shape for each in known if method in each.methods), None)
