"""Which TensorRT-LLM versions have the engine backend, and what they are built on."""

from __future__ import annotations

from functools import cache

from packaging.version import Version

from trtspec.trtllm.facts.read import document, entries, established
from trtspec.trtllm.facts.records import Release, Removal, TensorRT
from trtspec.trtllm.versions import contains


def backend_range() -> str:
    """The versions that have the engine backend and that trtspec drives."""
    return str(document("versions.json")["backend"]["versions"])


def has_backend(version: Version) -> bool:
    """Whether a version has the engine backend and is one that trtspec drives."""
    return contains(backend_range(), version)


@cache
def removal() -> Removal:
    """Which version is the last with the engine backend, and what went with it."""
    return Removal.model_validate(document("versions.json")["removal"])


@cache
def releases() -> tuple[Release, ...]:
    """The published releases with the backend, oldest first."""
    listed = document("versions.json")["releases"]
    return tuple(Release.model_validate(release) for release in listed)


@cache
def _built_on() -> tuple[TensorRT, ...]:
    return entries(document("versions.json")["tensorrt"], TensorRT)


def tensorrt_version(version: Version) -> str | None:
    """The TensorRT version a TensorRT-LLM version is built on; None if not known."""
    found = established(_built_on(), version)
    return found[0].tensorrt if found else None
