"""What parameters a method takes, in words: type, limits, default, meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trtspec.methods.base import Method

Node = Mapping[str, Any]

_TYPES = {
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "string": "text",
    "array": "list",
    "object": "map",
}

_PLURALS = {"integer": "whole numbers", "array": "paths"}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One key that a method has in a recipe.

    :param type: its type in words; the values themselves where only few are allowed.
    :param limits: what bounds it; empty if nothing does.
    :param default: what holds if it is left out; None stands for unset.
    """

    name: str
    type: str
    limits: str
    required: bool
    default: object
    description: str


def parameters(method: type[Method]) -> tuple[Parameter, ...]:
    """List the parameters of a method, those that it requires first."""
    schema = method.model_json_schema()
    required = schema["required"]
    made = (
        Parameter(
            name=name,
            type=" or ".join(dict.fromkeys(map(_type, _choices(node)))),
            limits="; ".join(dict.fromkeys(filter(None, map(_limits, _choices(node))))),
            required=name in required,
            default=node.get("default"),
            description=node["description"],
        )
        for name, node in schema["properties"].items()
        if name != "method"
    )
    return tuple(sorted(made, key=lambda parameter: not parameter.required))


def _choices(node: Node) -> list[Node]:
    """Give the alternatives of a value; that it may be unset is none."""
    choices = node.get("anyOf", [node])
    return [choice for choice in choices if choice.get("type") != "null"]


def _type(node: Node) -> str:
    if "const" in node:
        return str(node["const"])
    if "enum" in node:
        return ", ".join(map(str, node["enum"]))
    name = _TYPES[node["type"]]
    if node["type"] != "array":
        return name
    return f"{name} of {_PLURALS[node['items']['type']]}"


def _limits(node: Node) -> str:
    if node.get("type") == "array":
        return _of_list(node)
    if node.get("type") == "object":
        return _limits(node["additionalProperties"])
    if "pattern" in node:
        return f"matches {node['pattern']}"
    return _range(node)


def _of_list(node: Node) -> str:
    least, most = node["minItems"], node["maxItems"]
    size = f"{least} entries" if least == most else f"{least} to {most} entries"
    if node["items"]["type"] == "array":  # a tree: its paths are told in words
        return size
    return f"{size}, each {_limits(node['items'])}"


def _range(node: Node) -> str:
    if "exclusiveMaximum" in node:
        return f"{_plain(node['minimum'])} to below {_plain(node['exclusiveMaximum'])}"
    if "maximum" not in node:
        return ""
    return f"{_plain(node['minimum'])} to {_plain(node['maximum'])}"


def _plain(number: float) -> str:
    return f"{number:g}" if isinstance(number, float) else str(number)
