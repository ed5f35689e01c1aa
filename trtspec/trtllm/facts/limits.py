"""Which limits are documented, what goes wrong, and what is not known."""

from __future__ import annotations

from functools import cache

from packaging.version import Version

from trtspec.trtllm.facts.presence import has_backend
from trtspec.trtllm.facts.read import document, entries, established
from trtspec.trtllm.facts.records import Constraint, KnownFailure, Targets


@cache
def failures() -> tuple[KnownFailure, ...]:
    """Messages that appear when a stage or a run fails, the more telling first."""
    return entries(document("failures.json")["failures"], KnownFailure)


@cache
def constraints() -> tuple[Constraint, ...]:
    """Documented limits, with pieces of the messages that they lead to."""
    return entries(document("constraints.json")["constraints"], Constraint)


@cache
def all_targets() -> tuple[Targets, ...]:
    """Which model families each method accepts, in whatever version."""
    return entries(document("constraints.json")["targets"], Targets)


def targets(method: str, version: Version) -> frozenset[str]:
    """Model families (``model_type``) that a method is known to take as target.

    :param method: name of a speculation method, or ``quantize`` for quantize.py.
    :param version: the TensorRT-LLM version.
    """
    if not has_backend(version):
        return frozenset()
    found = established(all_targets(), version)
    return frozenset().union(*(t.families for t in found if t.method == method))


def not_established() -> tuple[str, ...]:
    """What no public source settles, and what is assumed instead."""
    return tuple(document("constraints.json")["not_established"])
