"""How the fact files are read: once each, checked, with what a group shares put in."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

from packaging.version import Version

from trtspec.trtllm.facts.records import Fact
from trtspec.trtllm.versions import contains

FactT = TypeVar("FactT", bound=Fact)

SHARED = ("versions", "source")
"""What a group of entries may state once for all of its entries."""


@cache
def document(name: str) -> dict[str, Any]:
    """Content of one fact file.

    :param name: file name, such as ``executor.json``.
    """
    text = (files(__package__) / name).read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def entries(groups: Iterable[dict[str, Any]], kind: type[FactT]) -> tuple[FactT, ...]:
    """All entries of some groups as records of one kind.

    :param groups: each has ``entries`` and, optionally, versions and source for them.
    :param kind: the record that an entry makes.
    :raises pydantic.ValidationError: an entry is not what the record asks for.
    """
    return tuple(
        kind.model_validate_json(json.dumps(_shared(group) | entry))
        for group in groups
        for entry in group["entries"]
    )


def _shared(group: dict[str, Any]) -> dict[str, Any]:
    return {key: group[key] for key in SHARED if key in group}


def established(facts: Iterable[FactT], version: Version) -> tuple[FactT, ...]:
    """Those facts whose range holds a version."""
    return tuple(fact for fact in facts if contains(fact.versions, version))
