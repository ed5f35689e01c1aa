"""How a tuned recipe is written: the user's own text, with what was found in its place.

Comments and order stay; only the values that changed are replaced.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import unified_diff
from pathlib import Path

import yaml

from trtspec.recipe.dump import flow_text

Key = tuple[str, ...]
PATHS: tuple[Key, ...] = (
    ("target", "model"),
    ("target", "chat_template"),
    ("speculation", "model"),
    ("workload", "prompts"),
    ("pytorch", "calibration_prompts"),
)
"""Values that may be paths relative to the recipe."""


def edited(text: str, changes: Mapping[Key, object]) -> str:
    """Replace values of a recipe's text; a key that it has not is added.

    :param text: a valid recipe.
    :param changes: new values by key; a section is replaced as a whole.
    """
    for key, value in changes.items():
        text = _with(text, key, value)
    return text


def _with(text: str, key: Key, value: object) -> str:
    found = _value_node(yaml.compose(text, Loader=yaml.SafeLoader), key)
    if found is None:
        return _added(text, key, value)
    after_key, node = found
    start, end = node.start_mark.index, node.end_mark.index
    block = isinstance(node, yaml.CollectionNode) and not node.flow_style
    if not block:
        return text[:start] + flow_text(value) + text[end:]
    # a block ends where the next key begins; its indent and comments stay
    rest = text[start:end]
    kept = rest[len(rest.rstrip()) :] or "\n"
    return f"{text[:after_key]}: {flow_text(value)}{kept}{text[end:]}"


def _value_node(root: yaml.Node | None, key: Key) -> tuple[int, yaml.Node] | None:
    """Give where a key ends, and its value."""
    node, end = root, 0
    for name in key:
        if not isinstance(node, yaml.MappingNode):
            return None
        for at, value in node.value:
            if at.value == name:
                node, end = value, at.end_mark.index
                break
        else:
            return None
    return None if node is None else (end, node)


def _added(text: str, key: Key, value: object) -> str:
    """Add a key at the end of its section, or a section at the end of the text."""
    *section, name = key
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    found = _value_node(root, tuple(section))
    if found is None and section:
        return _added(text, tuple(section), {name: value})
    node = found[1] if found else root
    if not isinstance(node, yaml.MappingNode):
        raise ValueError(f"{'.'.join(section)} is not a section")
    if not section and not node.flow_style:
        return f"{text.rstrip()}\n{name}: {flow_text(value)}\n"
    last, _ = node.value[0]
    if node.flow_style:
        at = node.end_mark.index - 1
        return f"{text[:at]}, {name}: {flow_text(value)}{text[at:]}"
    indent = " " * last.start_mark.column
    at = last.start_mark.index
    return f"{text[:at]}{name}: {flow_text(value)}\n{indent}{text[at:]}"


def without_comments(text: str, key: Key) -> str:
    """Drop the comments that stand right above a key: they explain its old value."""
    found = _value_node(yaml.compose(text, Loader=yaml.SafeLoader), key)
    if found is None:
        return text
    lines = text.splitlines(keepends=True)
    at = text.count("\n", 0, found[0])
    first = at
    while first and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    return "".join(lines[:first] + lines[at:])


def with_section(text: str, name: str, section: Mapping[str, object]) -> str:
    """Write a section of the top level anew, behind all others."""
    bare = without_section(text, name)
    root = yaml.compose(bare, Loader=yaml.SafeLoader)
    if isinstance(root, yaml.MappingNode) and root.flow_style:  # JSON, say
        return edited(bare, {(name,): section})
    return f"{bare.rstrip()}\n{block(name, section)}"


def block(name: str, section: Mapping[str, object]) -> str:
    """Write a section with one key a line; lists of maps with one map a line."""
    lines = [f"{name}:"]
    for key, value in section.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            lines += [f"  {key}:", *(f"    - {flow_text(item)}" for item in value)]
        else:
            lines.append(f"  {key}: {flow_text(value)}")
    return "\n".join(lines) + "\n"


def without_section(text: str, name: str) -> str:
    """Drop a section of a block's top level, if it is there."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(root, yaml.MappingNode) or root.flow_style:
        return text
    for key, value in root.value:
        if key.value == name:
            return text[: key.start_mark.index] + text[value.end_mark.index :].lstrip(
                "\n"
            )
    return text


def moved_paths(text: str, base: Path, new_base: Path) -> dict[Key, object]:
    """Give the changes that keep relative paths right in another directory."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    changes: dict[Key, object] = {}
    for key in PATHS:
        found = _value_node(root, key)
        if found is None or not isinstance(found[1], yaml.ScalarNode):
            continue
        named = str(found[1].value)
        place = base / named
        if not Path(named).is_absolute() and place.exists():
            changes[key] = Path(os.path.relpath(place, new_base)).as_posix()
    return changes


def difference(before: str, after: str, name: str) -> str:
    """Show what changed, as a unified diff."""
    lines = unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), name, name
    )
    return "".join(lines)
