"""Which values are of another type than their key wants, and what was meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trtspec.trtllm.facts.llm_args import keys
from trtspec.trtllm.migrate.change import Change, converted
from trtspec.trtllm.migrate.config import Config
from trtspec.trtllm.migrate.walk import described, parts

_BOOLEANS = {
    **dict.fromkeys(("true", "yes", "on", "1"), True),
    **dict.fromkeys(("false", "no", "off", "0"), False),
}
_WORD = re.compile(r"'([^']*)'")
_WHOLE = re.compile(r"[-+]?[0-9]+")


def typed(config: Config) -> Iterator[Change]:
    """Write numbers, switches, lists and words as the keys take them."""
    for path, section, class_name in parts(config.values, config.version):
        known = keys(class_name, config.version)
        for key, value in section.items():
            field = known.get(str(key)) or described(str(key), class_name)
            wrong = field.accepts(value) if field is not None else ""
            if field is None or not wrong:
                continue
            meant = as_type(value, field.type)
            if not field.accepts(meant):
                yield converted((*path, key), value, meant, f"it {wrong}")


def as_type(value: Any, wanted: str) -> Any:
    """Give what a value of the wrong type was meant to be; itself if that is unclear.

    :param wanted: the type as the facts write it, such as ``int|null``.
    """
    words = _WORD.findall(wanted)
    if words and isinstance(value, str):
        alike = (word for word in words if word.lower() == value.lower())
        return next(alike, value)
    read = _READERS.get(wanted.partition("|")[0])
    return value if read is None else read(value)


def _int(value: Any) -> Any:
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _float(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return float(value)
    except ValueError:
        return value


def _bool(value: Any) -> Any:
    if isinstance(value, str | int) and not isinstance(value, bool):
        return _BOOLEANS.get(str(value).strip().lower(), value)
    return value


def _ints(value: Any) -> Any:
    if isinstance(value, str) and "," in value:
        value = value.strip("[]() ").split(",")
    if isinstance(value, list):
        return [_int(item) for item in value]
    number = _int(value)
    return [number] if type(number) is int else value


def _map(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {_int(key): _int(item) for key, item in value.items()}


_READERS: dict[str, Callable[[Any], Any]] = {
    "int": _int,
    "float": _float,
    "bool": _bool,
    "list[int]": _ints,
    "set[int]": _ints,
    "map[int,int]": _map,
}
