"""Which CUDA a release was built with, and which NVIDIA driver a CUDA needs."""

from __future__ import annotations

from functools import cache

from packaging.version import Version
from pydantic import field_validator

from trtspec.trtllm.facts.read import document, entries, established
from trtspec.trtllm.facts.records import Fact

_FILE = "drivers.json"


class BuiltWith(Fact):
    """The CUDA versions of a range of releases: as a package, in NVIDIA's image."""

    cuda: tuple[str, ...]

    @field_validator("cuda", mode="before")
    @classmethod
    def _from_list(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value


@cache
def all_built_with() -> tuple[BuiltWith, ...]:
    """What is known of every range of releases, oldest first."""
    return entries(document(_FILE)["releases"], BuiltWith)


def built_with(version: Version) -> BuiltWith | None:
    """The CUDA of a release; None if that is not established."""
    return next(iter(established(all_built_with(), version)), None)


def least_driver(cuda: Version) -> str | None:
    """The oldest driver on which programs of a CUDA version start; None if not known.

    It is that of the major version: minor version compatibility.
    """
    return _drivers("minimum").get(str(cuda.major))


def own_driver(cuda: Version) -> str | None:
    """The oldest driver that was made for a CUDA version; None if not known."""
    return _drivers("own").get(f"{cuda.major}.{cuda.minor}")


def _drivers(which: str) -> dict[str, str]:
    found: dict[str, str] = document(_FILE)[which]["drivers"]
    return found


def driver_source(which: str) -> str:
    """Where the drivers come from.

    :param which: ``minimum`` or ``own``.
    """
    return str(document(_FILE)[which]["source"])


def newest_for(driver: Version) -> tuple[str, str] | None:
    """The newest range of releases that starts on a driver, and its oldest CUDA."""
    for fact in reversed(all_built_with()):
        for cuda in fact.cuda:
            least = least_driver(Version(cuda))
            if least is not None and driver >= Version(least):
                return fact.versions, cuda
    return None
