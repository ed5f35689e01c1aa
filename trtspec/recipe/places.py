"""What to do with a key that a section does not have: rename, move or delete it."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.recipe.allowed import Node, SchemaWords
from trtspec.recipe.suggest import nearest, other_name
from trtspec.recipe.yaml_lines import KeyPath, dotted

TAGGED = "speculation"
"""The section whose keys depend on its method."""


def advice(words: SchemaWords, key: str, section: KeyPath, node: Node) -> str:
    """Say what to do with an unknown key.

    :param section: path of the section that it stands in.
    :param node: JSON Schema of that section.
    """
    known = words.keys(node)
    return (
        _renamed(other_name(key, known))
        or _moved(words, key, section)
        or _renamed(nearest(key, known))
        or _renamed_and_moved(words, key)
        or _sunk(words.free_map(node), section)
        or "delete it"
    )


def _renamed(name: str | None) -> str:
    return f"write {name}" if name else ""


def _moved(words: SchemaWords, key: str, section: KeyPath) -> str:
    methods = words.methods_with(key)
    if section == (TAGGED,) and methods:
        return f"{key} belongs to method {methods}: delete it or change the method"
    homes = ", or ".join(words.homes(key))
    return f"{key} belongs {homes}: move it or delete it" if homes else ""


def _renamed_and_moved(words: SchemaWords, key: str) -> str:
    near = nearest(key, _all_keys(words))
    return f"write {near}, {', or '.join(words.homes(near))}" if near else ""


def _all_keys(words: SchemaWords) -> Iterator[str]:
    root = words.node((), {})
    sections = [root, *words.methods().values()]
    sections += [words.node((key,), {}) for key in words.keys(root)]
    return (key for section in sections for key in words.keys(section))


def _sunk(free: str, section: KeyPath) -> str:
    """Point to the one map of the section that takes names which we do not list."""
    below = dotted((*section, free))
    return f"put it under {below} if it belongs there, or delete it" if free else ""
