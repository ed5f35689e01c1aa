"""Which limits are documented, what goes wrong, and what is not known."""

from __future__ import annotations

from functools import cache

from packaging.version import Version

from trtspec.trtllm.facts.presence import has_backend
from trtspec.trtllm.facts.programs import BUILDER, flags
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


def number_of(name: str) -> int:
    """The number in a documented limit, such as the requests of ``eagle_batch``."""
    found = next(c.number for c in constraints() if c.name == name)
    assert found is not None, f"{name} has no number"
    return found


def tokens_per_block(version: Version | None) -> int:
    """Tokens of a KV cache block, unless a flag of the builder says otherwise.

    :param version: the TensorRT-LLM version; the larger block if it is not known.
    """
    flag = flags(BUILDER, version).get("--tokens_per_block") if version else None
    if flag is not None and isinstance(flag.default, int):
        return flag.default
    return number_of("older_tokens_per_block")


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
