"""What a release of the backend pytorch runs on, its limits, and what is not known."""

from __future__ import annotations

from functools import cache

from packaging.version import Version
from pydantic import field_validator

from trtspec.trtllm.facts.families import family_of
from trtspec.trtllm.facts.read import document, entries, established
from trtspec.trtllm.facts.records import Constraint, Fact


class Platform(Fact):
    """What a range of versions is built on; an empty text is not established.

    :ivar transformers: the only version that the package accepts.
    :ivar image: NVIDIA's container image, where its use was seen.
    """

    torch: str
    cuda: str
    python: tuple[str, ...]
    transformers: str = ""
    tensorrt: str = ""
    modelopt: str = ""
    image: str = ""

    @field_validator("python", mode="before")
    @classmethod
    def _from_list(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value


@cache
def all_platforms() -> tuple[Platform, ...]:
    """What each family is built on, oldest first."""
    return entries([{"entries": document("pytorch.json")["platforms"]}], Platform)


def platform_of(version: Version) -> Platform | None:
    """What a version is built on; None if it is of no family."""
    if family_of(version) is None:
        return None
    return next(iter(established(all_platforms(), version)), None)


@cache
def all_pytorch_constraints() -> tuple[Constraint, ...]:
    """Documented limits of the backend pytorch, in whatever version."""
    return entries(document("pytorch.json")["constraints"], Constraint)


def pytorch_constraints(version: Version) -> tuple[Constraint, ...]:
    """The documented limits that hold for a version of the backend pytorch."""
    if family_of(version) is None:
        return ()
    return established(all_pytorch_constraints(), version)


def pytorch_not_established() -> tuple[str, ...]:
    """What no public source settles about it, and what is assumed instead."""
    return tuple(document("pytorch.json")["not_established"])
