"""Writes the tables of docs/recipe.md from the JSON Schema of recipes.

``python scripts/docs_blocks.py docs/recipe.md`` writes them into the page.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from trtspec.methods.catalogue import METHODS, PLACES, settings
from trtspec.recipe.json_schema import recipe_json_schema

Node = Mapping[str, Any]

SCHEMA = recipe_json_schema()
PARTS: dict[str, str] = {
    "Target": "target",
    "Limits": "limits",
    "Sampling": "sampling",
    "Workload": "workload",
    "EngineOptions": "engine",
    "PyTorchOptions": "pytorch",
    "AcceptanceGate": "pytorch.acceptance_gate",
    "Tuned": "tuned",
    "TunedLoad": "tuned.loads",
}
"""Definition in the schema → where it stands in a recipe."""
ONLY: dict[str, str] = {
    "engine": "`tensorrt`",
    "pytorch": "`pytorch`",
    "target.quantization": "`tensorrt`, `pytorch`",
    "target.tensor_parallel": "`tensorrt`, `pytorch`",
    "speculation.quantization": "`tensorrt`, `pytorch`",
    "speculation.tensor_parallel": "`tensorrt`, `pytorch`",
}
"""Keys that some backends do not take: where they count."""
IDLE = (
    "rejection_sampling",
    "use_draft_logits",
    "greedy_search",
    "two_model",
    "resource_manager",
)
"""Keys of methods that backend ``reference`` takes and does not need."""
_TYPES = {
    "integer": "whole number",
    "number": "number",
    "boolean": "true or false",
    "string": "text",
    "object": "map",
}
_PLURALS = {"whole number": "whole numbers", "list of whole numbers": "paths"}


def keys(definition: str) -> Iterator[str]:
    """Tabulate the keys of one section; ``Recipe`` is the recipe itself."""
    node = SCHEMA if definition == "Recipe" else SCHEMA["$defs"][definition]
    place = PARTS.get(definition, "")
    yield from _table(node, place)


def _table(node: Node, place: str, *, skip: tuple[str, ...] = ()) -> Iterator[str]:
    yield "| key | type | limits | default | backends | meaning |"
    yield "|---|---|---|---|---|---|"
    for name, key in node["properties"].items():
        if name in skip:
            continue
        cells = (
            f"`{name}`",
            _type(key),
            _limits(key),
            "*required*" if name in node.get("required", ()) else _default(key),
            _backends(f"{place}.{name}".lstrip(".")),
            _meaning(key),
        )
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _backends(path: str) -> str:
    top = path.partition(".")[0]
    name = path.rpartition(".")[2]
    if top == "speculation" and name in IDLE:
        return "no effect on `reference`"
    return ONLY.get(path, ONLY.get(top, "all"))


def _choices(node: Node) -> list[Node]:
    """Give the alternatives of a value; that it may be unset is none."""
    found = node.get("anyOf") or node.get("oneOf") or [node]
    return [choice for choice in found if choice.get("type") != "null"]


def _type(node: Node) -> str:
    return " or ".join(dict.fromkeys(map(_type_of_one, _choices(node))))


def _type_of_one(node: Node) -> str:
    if "$ref" in node:
        return _reference(node["$ref"].rpartition("/")[2])
    if "const" in node:
        return f"`{node['const']}`"
    if "enum" in node:
        return ", ".join(f"`{word}`" for word in node["enum"])
    if node.get("type") == "array":
        inner = _type(node["items"]) if "items" in node else ""
        return f"list of {_PLURALS.get(inner, inner)}" if inner else "list"
    return _TYPES.get(node.get("type", ""), "anything")


def _reference(definition: str) -> str:
    if definition not in PARTS:
        return "[a method](#speculation)"
    return f"[section](#{PARTS[definition].replace('.', '')})"


def _method_of(definition: str) -> str:
    schema = SCHEMA["$defs"][definition]
    return str(schema["properties"]["method"]["const"])


def _limits(node: Node) -> str:
    return "; ".join(dict.fromkeys(filter(None, map(_limits_of_one, _choices(node)))))


def _limits_of_one(node: Node) -> str:
    kind = node.get("type")
    if kind == "array":
        most = node.get("maxItems")
        size = (
            f"{node['minItems']} to {most}" if most else f"{node['minItems']} or more"
        )
        inner = _limits(node.get("items", {}))
        return f"{size} entries" + (f", each {inner}" if inner else "")
    if kind == "object" and isinstance(node.get("additionalProperties"), Mapping):
        return _limits(node["additionalProperties"])
    if kind == "string":
        return _text_limits(node)
    return _range(node)


def _text_limits(node: Node) -> str:
    parts = []
    if "pattern" in node:
        parts.append(f"`{node['pattern']}`")
    if "maxLength" in node:
        parts.append(f"at most {node['maxLength']} characters")
    if node.get("minLength") == 1 and not parts:
        parts.append("not empty")
    return ", ".join(parts)


def _range(node: Node) -> str:
    low, above = node.get("minimum"), node.get("exclusiveMinimum")
    high, below = node.get("maximum"), node.get("exclusiveMaximum")
    parts = []
    if above is not None:
        parts.append(f"above {above:g}")
    if low is not None:
        parts.append(f"from {low}" if high is None and below is None else f"{low}")
    if high is not None:
        parts.append(f"to {high}" if low is not None else f"up to {high}")
    if below is not None:
        parts.append(f"below {below:g}")
    return ", ".join(parts).replace(", to", " to")


def _default(node: Node) -> str:
    if "default" not in node or node["default"] is None:
        return "unset"
    if isinstance(node["default"], dict) and node["default"]:
        return "those of its keys"
    return f"`{json.dumps(node['default'])}`"


def _meaning(node: Node) -> str:
    if "description" in node or "$ref" not in node:
        return str(node.get("description", ""))
    return str(SCHEMA["$defs"][node["$ref"].rpartition("/")[2]]["description"])


def methods() -> Iterator[str]:
    """Give each method a heading, where it runs, and its keys."""
    for choice in SCHEMA["properties"]["speculation"]["oneOf"]:
        definition = choice["$ref"].rpartition("/")[2]
        node = SCHEMA["$defs"][definition]
        name = _method_of(definition)
        yield f"### {name}"
        yield ""
        yield f"{METHODS[name].summary[0].upper()}{METHODS[name].summary[1:]}."
        yield f"Drafts with: {METHODS[name].needs}. Backends: {_where(name)}."
        yield ""
        rest = [key for key in node["properties"] if key != "method"]
        if rest:
            yield from _table(node, "speculation", skip=("method",))
        else:
            yield "No keys but `method`."
        yield ""


def _where(name: str) -> str:
    """List where the fewest keys of a method run."""
    from trtspec.methods.catalogue import standings

    found = standings(settings(name)[0].method)
    runs = [place for place, on in zip(PLACES, found, strict=True) if on.runs]
    families = [place.family for place in runs if place.family]
    words = [f"`{place.backend}`" for place in runs if not place.family]
    if families:
        words.append(f"`pytorch` {', '.join(families)}")
    return "; ".join(words)


MAKERS: dict[str, Callable[..., Iterator[str]]] = {
    "recipe-keys": keys,
    "recipe-methods": methods,
}


def main() -> int:
    """Print every table."""
    for definition in ("Recipe", *PARTS):
        print(f"## {definition}\n")
        print("\n".join(keys(definition)))
    print("\n".join(methods()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
