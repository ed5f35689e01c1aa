"""Which keys a version knows and wants: the only ones that are ever written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from packaging.version import Version

from trtspec.recipe.suggest import nearest
from trtspec.trtllm.facts.llm_args import (
    AUTO,
    TOP_LEVEL,
    class_of,
    keys,
)
from trtspec.trtllm.facts.records import Key
from trtspec.trtllm.pytorch.settings import LlmArgs
from trtspec.trtllm.versions import contains

SPECULATION = "speculative_config"
TYPE = "decoding_type"


_OTHER_NAMES = {"spec_config": SPECULATION, "speculation_config": SPECULATION}


def meant(name: str, known: Iterable[str]) -> str | None:
    """Name the key that is meant by one that a version does not know.

    :param known: the keys that may be meant.
    """
    listed = list(known)
    other = _OTHER_NAMES.get(name)
    return other if other in listed else nearest(name, listed)


def is_deprecated(key: Key, version: Version) -> bool:
    """Whether a version knows the key and wants it gone."""
    return bool(key.deprecated) and contains(key.deprecated, version)


def key_of(key: str, class_name: str, version: Version) -> Key | None:
    """What is known of a key of a class in a version; None if it has none."""
    return _keys(class_name, version).get(key)


def knows(key: str, class_name: str, version: Version) -> bool:
    """Whether a class has a key in a version, and wants to keep it."""
    found = key_of(key, class_name, version)
    return found is not None and not is_deprecated(found, version)


_keys = lru_cache(maxsize=256)(keys)


def unknown_keys(args: LlmArgs) -> Iterator[str]:
    """Give the keys of a configuration that its version does not know, or wants gone.

    Keys in maps whose content the facts do not describe count as known.
    """
    version = args.version
    spelled = _decoding_type(args)
    for path, _ in args.leaves():
        class_name: str | None = TOP_LEVEL
        for key in path:
            if class_name is None:
                break
            if not (class_name == spelled and key == TYPE) and not knows(
                key, class_name, version
            ):
                yield ".".join(path)
                break
            class_name = _below(class_name, key, spelled, version)


def _decoding_type(args: LlmArgs) -> str | None:
    for path, setting in args.leaves():
        if path == (SPECULATION, TYPE):
            return class_of(str(setting.value), args.version)
    return None


def _below(
    class_name: str, key: str, spelled: str | None, version: Version
) -> str | None:
    if class_name == TOP_LEVEL and key == SPECULATION:
        return spelled or AUTO
    found = _keys(class_name, version).get(key)
    return (found.section or None) if found else None
