"""What the schema allows at a key of a recipe, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from trtspec.recipe.dump import flow_text
from trtspec.recipe.json_schema import recipe_json_schema
from trtspec.recipe.schema import NAME_PATTERN, NAME_RULE

Node = Mapping[str, Any]


@dataclass(frozen=True)
class SchemaWords:
    """The JSON Schema of a recipe, readable by key path."""

    root: Node = field(default_factory=recipe_json_schema)

    def node(self, path: tuple[object, ...], recipe: object) -> Node:
        """Give the schema at a key path; empty if there is none.

        :param recipe: the recipe's values, which decide between methods.
        """
        node = self._section(self.root, recipe)
        for key in path:
            recipe = _child(recipe, key)
            below = node.get("properties", {}).get(key) or node.get("items") or {}
            node = self._section(below, recipe)
        return node

    def methods(self) -> dict[str, Node]:
        """Give the schema of each speculation method by its name."""
        choices = map(self._resolved, self.root["properties"]["speculation"]["oneOf"])
        return {node["properties"]["method"]["const"]: node for node in choices}

    def keys(self, node: Node) -> list[str]:
        """List the keys of a section, the required ones first."""
        required = node.get("required", [])
        return [
            *required,
            *(k for k in node.get("properties", {}) if k not in required),
        ]

    def methods_with(self, key: str) -> str:
        """Name the speculation methods that have a key; empty if none has."""
        names = [m for m, node in self.methods().items() if key in node["properties"]]
        return listed(names)

    def free_map(self, node: Node) -> str:
        """Name the key of a section whose map may have any keys; empty if none."""
        maps = [k for k, v in node.get("properties", {}).items() if _is_free(v)]
        return maps[0] if maps else ""

    def homes(self, key: str) -> Iterator[str]:
        """Name the places where a key would be right, such as "under limits"."""
        if key in self.root["properties"]:
            yield "at the top level (not indented)"
        for name, node in self.root["properties"].items():
            if key in self._section(node, {}).get("properties", {}):
                yield f"under {name}"
        if methods := self.methods_with(key):
            yield f"under speculation (method {methods})"

    def _section(self, node: Node, value: object) -> Node:
        node = self._resolved(node)
        if "discriminator" in node:
            method = value.get("method") if isinstance(value, Mapping) else None
            methods = self.methods()
            return methods[method] if method in list(methods) else node
        return node

    def _resolved(self, node: Node) -> Node:
        """Follow references, and take the one alternative to null."""
        while True:
            choices = [c for c in node.get("anyOf", []) if c.get("type") != "null"]
            if len(choices) == 1:
                node = {k: v for k, v in node.items() if k != "anyOf"} | choices[0]
            elif "$ref" in node:
                rest = {k: v for k, v in node.items() if k != "$ref"}
                node = self.root["$defs"][node["$ref"].rpartition("/")[2]] | rest
            else:
                return node

    def describe(self, node: Node) -> str:
        """Say which values are allowed."""
        forms: dict[str, Callable[[Node], str]] = {
            "const": lambda node: str(node["const"]),
            "enum": lambda node: ", ".join(node["enum"]),
            "anyOf": _purpose,
            "discriminator": lambda _: (
                f"a map whose method is one of {', '.join(self.methods())}"
            ),
            "boolean": lambda _: "true or false",
            "object": self._map,
            "array": self._list,
            "string": _text,
            "integer": lambda node: f"a whole number {_range(node)}",
            "number": lambda node: f"a number {_range(node)}",
        }
        # what a node is called by one of these keys says more than its type
        form = next((key for key in forms if key in node), node.get("type"))
        return forms[form](node) if form else ""

    def _map(self, node: Node) -> str:
        if "properties" not in node:
            return f"a map: {_purpose(node)}"
        return f"a map with the keys {', '.join(self.keys(node))}"

    def _list(self, node: Node) -> str:
        each = self.describe(self._resolved(node["items"]))
        return f"a list such as {flow_text(node['examples'][0])}; each entry {each}"


def listed(names: list[str]) -> str:
    """Join alternatives: ``a, b or c``; empty for none."""
    *rest, last = names or [""]
    return f"{', '.join(rest)} or {last}" if rest else last


def _is_free(node: Node) -> bool:
    return node.get("type") == "object" and "properties" not in node


def _purpose(node: Node) -> str:
    sentence: str = node["description"]
    return sentence[:1].lower() + sentence[1:].removesuffix(".")


def _text(node: Node) -> str:
    named = node.get("pattern") == NAME_PATTERN
    return NAME_RULE if named else f"text: {_purpose(node)}"


def _range(node: Node) -> str:
    above, below = node.get("exclusiveMinimum"), node.get("exclusiveMaximum")
    if above is not None and below is not None:
        return f"above {_plain(above)} and below {_plain(below)}"
    if below is not None:
        return f"from {_plain(node['minimum'])} to below {_plain(below)}"
    largest = _plain(node["maximum"])
    if above is not None:
        return f"above {_plain(above)} and at most {largest}"
    return f"from {_plain(node['minimum'])} to {largest}"


def _plain(number: float) -> str:
    return f"{number:g}" if isinstance(number, float) else str(number)


def _child(value: object, key: object) -> object:
    if isinstance(value, Mapping):
        return value.get(key)
    if isinstance(value, list) and isinstance(key, int):
        return value[key]
    return None
