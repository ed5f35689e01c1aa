"""Which family of releases a version belongs to, for TensorRT-LLM's backend pytorch.

Within a family the LLM API's YAML means the same. Candidates that mix the rules of two
families belong to none.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, get_args

from packaging.version import Version
from pydantic import BaseModel, ConfigDict

from trtspec.trtllm.facts.read import document
from trtspec.trtllm.versions import contains

Family = Literal["1.0", "1.1", "1.2", "main"]
FAMILIES: tuple[Family, ...] = get_args(Family)


class Zone(BaseModel):
    """A range of versions that belongs to no family.

    :ivar versions: PEP 440 specifier. A bound such as ``<1.2.0rc999`` stands for all
        pre-releases, because ``<1.2.0`` holds none of them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    versions: str
    why: str
    source: str


@cache
def family_ranges() -> dict[Family, str]:
    """The versions of each family, as PEP 440 specifiers, oldest first."""
    ranges: dict[Family, str] = document("pytorch.json")["families"]
    return ranges


@cache
def zones() -> tuple[Zone, ...]:
    """The versions that belong to no family, and why, oldest first."""
    listed = document("pytorch.json")["zones"]
    return tuple(Zone.model_validate(zone) for zone in listed)


def family_of(version: Version) -> Family | None:
    """The family of a version; None if it belongs to none, see ``why_no_family``."""
    found = (name for name, held in family_ranges().items() if contains(held, version))
    return next(found, None)


def newest_of(family: Family) -> Version:
    """The newest version of a family that the facts were read for."""
    return Version(document("pytorch.json")["newest"][family])


def why_no_family(version: Version) -> str:
    """Say why a version belongs to no family; empty if it belongs to one."""
    if family_of(version) is not None:
        return ""
    found = (zone.why for zone in zones() if contains(zone.versions, version))
    return next(found, "no source establishes what it accepts")
