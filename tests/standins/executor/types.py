"""Does a value have the type that the facts state for an argument?"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from trtspec.trtllm.facts import Field


def bare(text: str) -> str:
    """A type without what is said about its values: ``list[int], not empty``."""
    depth = 0
    for index, character in enumerate(text):
        depth += (character == "[") - (character == "]")
        if character in ", " and depth == 0:
            return text[:index]
    return text


def matches(text: str, value: Any, classes: Mapping[str, type]) -> bool:
    """Whether a value may be passed; numbers are as strict as the bindings."""
    text = bare(text)
    if text == "Optional" or text.startswith("Optional["):
        inner = text[len("Optional[") : -1]
        return value is None or not inner or matches(inner, value, classes)
    if text.startswith("list["):
        inner = text[len("list[") : -1]
        listed = isinstance(value, list | tuple)
        return listed and all(matches(inner, item, classes) for item in value)
    return _plain(text, value, classes)


def _plain(text: str, value: Any, classes: Mapping[str, type]) -> bool:
    if text == "Tensor":
        import torch

        return isinstance(value, torch.Tensor)
    if text in ("int", "float"):
        numbers = (int,) if text == "int" else (int, float)
        return isinstance(value, numbers) and not isinstance(value, bool)
    builtin = {"bool": bool, "str": str, "list": list, "dict": dict}
    kind = builtin.get(text) or classes.get(text)
    return kind is None or isinstance(value, kind)


def default_of(field: Field, classes: Mapping[str, type]) -> Any:
    """The value of an argument that is not given."""
    kind = classes.get(bare(field.type))
    if kind is None:
        return field.default
    if issubclass(kind, Enum):
        return next(m for m in kind if m.name.endswith(str(field.default)))
    return kind()
