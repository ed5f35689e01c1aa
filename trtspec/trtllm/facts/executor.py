"""Which arguments and attributes the executor's classes have, and their limits."""

from __future__ import annotations

from functools import cache

from packaging.version import Version

from trtspec.trtllm.facts.presence import has_backend
from trtspec.trtllm.facts.read import document, entries, established
from trtspec.trtllm.facts.records import Field, Limit


def class_names() -> tuple[str, ...]:
    """The classes of ``tensorrt_llm.bindings.executor`` that the facts describe."""
    return tuple(document("executor.json")["classes"])


@cache
def all_fields(class_name: str, part: str = "arguments") -> tuple[Field, ...]:
    """Every constructor argument, or attribute, that a class has had.

    :param class_name: a class of ``tensorrt_llm.bindings.executor``.
    :param part: ``arguments`` or ``attributes``.
    """
    described = document("executor.json")["classes"].get(class_name, {})
    return entries(described.get(part, ()), Field)


def fields(class_name: str, version: Version) -> dict[str, Field]:
    """The constructor arguments that an executor class has in a version."""
    return _known(class_name, "arguments", version)


def attributes(class_name: str, version: Version) -> dict[str, Field]:
    """What can be read from an object of an executor class in a version."""
    return _known(class_name, "attributes", version)


@cache
def value_limits() -> tuple[Limit, ...]:
    """The largest values that the runtime takes as they are, in whatever version."""
    return entries(document("executor.json")["limits"], Limit)


def most_top_k() -> int:
    """The largest top-k that sampling goes by; the runtime lowers what is above."""
    return next(limit.most for limit in value_limits() if limit.name == "top_k")


def _known(class_name: str, part: str, version: Version) -> dict[str, Field]:
    return {field.name: field for field in _found(class_name, part, version)}


@cache  # asked for every request and every answer, always of one version
def _found(class_name: str, part: str, version: Version) -> tuple[Field, ...]:
    if not has_backend(version):
        return ()
    return established(all_fields(class_name, part), version)
