"""What TensorRT-LLM would refuse, or silently ignore, in a YAML of the LLM API.

Stricter than it is: a deprecated key is a fault too, and so is one without effect.
Judged by the facts of one version; ``installed`` asks the installed classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from packaging.version import Version

from trtspec.errors import Problem
from trtspec.trtllm.facts.families import (
    FAMILIES,
    family_of,
    newest_of,
    why_no_family,
)
from trtspec.trtllm.facts.llm_args import (
    TOP_LEVEL,
    class_of,
    decoding_type,
    keys,
    speculation_classes,
)
from trtspec.trtllm.facts.records import Key
from trtspec.trtllm.facts.value_faults import in_words
from trtspec.trtllm.pytorch.compile.conflicts import conflicts
from trtspec.trtllm.pytorch.compile.known import (
    SPECULATION,
    TYPE,
    is_deprecated,
    meant,
)

_WHERE_TYPE = f"{SPECULATION}.{TYPE}"


def faults(args: Mapping[str, Any], version: Version) -> tuple[Problem, ...]:
    """List what is wrong with a configuration for one version.

    :param args: what the YAML holds.
    :returns: problems whose ``where`` is the key's path with dots; none if it is fine.
    """
    if family_of(version) is None:
        what = f"TensorRT-LLM {version} belongs to no family: {why_no_family(version)}"
        return (Problem(what),)
    found = tuple(_map_faults(args, TOP_LEVEL, version, ""))
    return (*found, *conflicts(args, version))


def _map_faults(
    held: Mapping[str, Any], class_name: str, version: Version, where: str
) -> Iterator[Problem]:
    known = keys(class_name, version)
    for name, value in held.items():
        here = f"{where}.{name}" if where else str(name)
        if here == _WHERE_TYPE:
            continue
        if name not in known:
            yield _unknown(str(name), class_name, version, here)
        elif is_deprecated(known[name], version):
            yield _deprecated(known[name], version, here)
        else:
            yield from _value_faults(known[name], value, version, here)
    yield from _missing_or_twice(held, known, where)


def _missing_or_twice(
    held: Mapping[str, Any], known: Mapping[str, Key], where: str
) -> Iterator[Problem]:
    for key in known.values():
        given = key.name in held or (key.alias in known and key.alias in held)
        if key.required and not given and where:
            yield Problem("is not given", f"{where}.{key.name}", _allowed(key))
        if key.alias in known and key.name in held and key.alias in held:
            what = f"stands beside {key.alias}, another name for it"
            if key.name > key.alias:  # said once for the two
                yield Problem(what, f"{where}.{key.name}", "one of the two")


def _value_faults(
    key: Key, value: object, version: Version, where: str
) -> Iterator[Problem]:
    if fault := key.accepts(value):
        yield Problem(fault, where, _allowed(key))
    elif where == SPECULATION and isinstance(value, Mapping):
        yield from _speculation_faults(value, version)
    elif key.section and isinstance(value, Mapping):
        yield from _map_faults(value, key.section, version, where)


def _allowed(key: Key) -> str:
    return "; ".join(filter(None, (in_words(key.type), key.constraint)))


def _speculation_faults(held: Mapping[str, Any], version: Version) -> Iterator[Problem]:
    spelled = held.get(TYPE)
    class_name = class_of(spelled, version) if isinstance(spelled, str) else None
    if class_name is None:
        yield _no_such_type(spelled, version)
    else:
        yield from _map_faults(held, class_name, version, SPECULATION)


def _no_such_type(spelled: object, version: Version) -> Problem:
    types = (decoding_type(name, version) for name in speculation_classes())
    known = [name for name in types if name is not None]
    what = f"{spelled!r} is no type of TensorRT-LLM {version}"
    same = next((n for n in known if _letters(n) == _letters(str(spelled))), None)
    if spelled == "Eagle3" and "Eagle" in known:
        same = "Eagle"
    action = f"write {same}" if same else ""
    missing = spelled is None
    what = "is not given" if missing else what
    return Problem(what, _WHERE_TYPE, ", ".join(known), action)


def _letters(word: str) -> str:
    return "".join(filter(str.isalnum, word)).lower()


def _unknown(name: str, class_name: str, version: Version, where: str) -> Problem:
    elsewhere = [f for f in FAMILIES if name in keys(class_name, newest_of(f))]
    what = f"TensorRT-LLM {version} has no such key"
    if elsewhere:
        what += f"; it is one of {', '.join(elsewhere)}"
    near = meant(name, keys(class_name, version))
    return Problem(what, where, "", f"did you mean {near}?" if near else "delete it")


def _deprecated(key: Key, version: Version, where: str) -> Problem:
    what = f"is deprecated in TensorRT-LLM {version}"
    return Problem(f"{what}: {key.note}" if key.note else what, where, "", "delete it")
