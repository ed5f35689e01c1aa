"""Which flags ``trtllm-serve`` has, and what starts it on several GPUs or nodes."""

from __future__ import annotations

from functools import cache

from packaging.version import Version
from pydantic import field_validator

from trtspec.trtllm.facts.families import family_of
from trtspec.trtllm.facts.read import document, entries, established
from trtspec.trtllm.facts.records import Fact, Flag, Named
from trtspec.trtllm.versions import contains


class Launcher(Fact):
    """The program that MPI or Slurm starts once per GPU.

    :ivar rank_variables: environment variables that tell it its rank, the first that
        is set.
    :ivar size_variables: those that tell how many ranks there are.
    """

    program: str
    rank_variables: tuple[str, ...]
    size_variables: tuple[str, ...]

    @field_validator("rank_variables", "size_variables", mode="before")
    @classmethod
    def _from_list(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value


@cache
def all_serve_flags() -> tuple[Flag, ...]:
    """Every flag of ``trtllm-serve`` in whatever version."""
    return entries(document("serve.json")["flags"], Flag)


def serve_flags(version: Version) -> dict[str, Flag]:
    """The flags that ``trtllm-serve`` is known to have, by name; aliases left to it."""
    if family_of(version) is None:
        return {}
    return {
        flag.flag: _without_later_aliases(flag, version)
        for flag in established(all_serve_flags(), version)
    }


def subcommands(version: Version) -> tuple[str, ...]:
    """The subcommands that ``trtllm-serve`` is known to have; ``serve`` is implied."""
    if family_of(version) is None:
        return ()
    every = entries(document("serve.json")["subcommands"], Named)
    return tuple(each.name for each in established(every, version))


def launcher(version: Version) -> Launcher | None:
    """What starts the server under MPI or Slurm; None for a version of no family."""
    if family_of(version) is None:
        return None
    every = entries(document("serve.json")["launchers"], Launcher)
    return next(iter(established(every, version)), None)


def _without_later_aliases(flag: Flag, version: Version) -> Flag:
    held = flag.aliases_versions
    if not held or contains(held, version):
        return flag
    return flag.model_copy(update={"aliases": ()})
