"""Which maps a vendor's YAML consists of, and which class each is of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from packaging.version import Version

from trtspec.recipe.yaml_lines import Key, KeyPath
from trtspec.trtllm.facts.llm_args import (
    AUTO,
    BASE,
    SECTIONS,
    TOP_LEVEL,
    all_keys,
    arg_classes,
    speculation_classes,
)
from trtspec.trtllm.facts.records import Key as Field
from trtspec.trtllm.migrate.methods import class_name, method_of

SPEC = "speculative_config"
ENHANCER = "sa_config"
TYPE = "decoding_type"
Part = tuple[KeyPath, dict[Key, Any], str]
"""Path, map and class."""


def parts(values: Mapping[Key, Any], version: Version) -> Iterator[Part]:
    """Give the maps whose keys the facts describe, outermost first.

    A ``speculative_config`` whose class the version lacks is left out.
    """
    yield (), dict(values), TOP_LEVEL
    for key, name in SECTIONS.items():
        if isinstance(values.get(key), dict):
            yield (key,), values[key], name
    spec = values.get(SPEC)
    if not isinstance(spec, dict):
        return
    name_of_spec = class_name(method_of(spec.get(TYPE)), version)
    if name_of_spec:
        yield (SPEC,), spec, name_of_spec
    if isinstance(spec.get(ENHANCER), dict):
        yield (SPEC, ENHANCER), spec[ENHANCER], "SAEnhancerConfig"


def described(key: str, class_name_: str) -> Field | None:
    """Give what any release says of a key of a class; None if none has it."""
    names = [class_name_]
    if class_name_ in speculation_classes() and class_name_ != AUTO:
        names.append(BASE)
    return next((f for n in names for f in all_keys(n) if f.name == key), None)


def elsewhere(key: str) -> tuple[str, ...]:
    """Give the classes of any release that have a key."""
    return tuple(
        name
        for name in arg_classes()
        if any(field.name == key for field in all_keys(name))
    )
