"""Which values does a key of the LLM API take? Those of the type in the facts."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Strict, StrictBool, StrictInt, StrictStr

from trtspec.trtllm.facts.types import ValueType, parse_type

PLAIN: dict[str, Any] = {
    "null": None,
    "bool": StrictBool,
    "int": StrictInt,
    "float": Annotated[float, Strict()],
    "str": StrictStr | Path,
    "any": Any,
    "object": dict[str, Any],
    "python": Any,
}


def annotation(text: str, classes: Mapping[str, Any]) -> Any:
    """The type that pydantic checks.

    :param text: in the grammar of the facts.
    :param classes: nested classes by name.
    """
    return _union(parse_type(text), classes)


def _union(alternatives: tuple[ValueType, ...], classes: Mapping[str, Any]) -> Any:
    kinds = [_single(each, classes) for each in alternatives]
    return Any if Any in kinds else functools.reduce(operator.or_, kinds)


def _single(one: ValueType, classes: Mapping[str, Any]) -> Any:
    if one.name.startswith("'"):
        return Literal[one.name[1:-1]]
    if one.is_class:
        return classes[one.name]
    inner = [_union(of, classes) for of in one.of]
    if one.name == "list":
        return list[inner[0]]  # type: ignore[valid-type]
    if one.name == "map":
        return dict[inner[0], inner[1]]  # type: ignore[valid-type]
    if one.name == "set":
        # YAML has no sets
        as_set = BeforeValidator(lambda v: set(v) if isinstance(v, list) else v)
        return Annotated[set[inner[0]], as_set]  # type: ignore[valid-type]
    return PLAIN[one.name]


def require_range(key: Any, value: Any) -> None:
    """Refuse a number outside what the facts state for a key; in a list as well.

    :raises ValueError: it is outside.
    """
    numbers = value if isinstance(value, list) else [value]
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int | float):
            continue
        low = key.least is not None and number < key.least
        low |= key.above is not None and number <= key.above
        if low or (key.most is not None and number > key.most):
            raise ValueError(f"{key.name}: {number} is out of range")
