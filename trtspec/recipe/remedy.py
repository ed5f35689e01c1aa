"""What to write in place of a value that does not fit its key."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from trtspec.recipe.allowed import Node
from trtspec.recipe.dump import flow_text
from trtspec.recipe.suggest import nearest

_GROUPED_DIGITS = re.compile(r"[0-9][0-9_, ]*")
_LARGEST_EXACT = 2**53
_MOST_DIGITS = 15
"""No value of a recipe has more: a longer number is not to be suggested again."""
_BOOLEANS = dict.fromkeys(("yes", "on", "y", "1", "enable"), "true") | dict.fromkeys(
    ("no", "off", "n", "0", "none", "disable"), "false"
)


def type_name(value: object, node: Node) -> str:
    """Say what a scalar of the wrong type is, to follow "which is"."""
    if isinstance(value, bool):
        return "a yes-or-no value"
    if node.get("type") == "string":
        return "read as a number"
    if isinstance(value, float) and not math.isfinite(value):
        return "not a finite number"
    if isinstance(value, float):
        whole = node.get("type") == "integer"
        return "written with a fraction" if whole else "a number"
    return "a whole number" if isinstance(value, int) else "text"


def remedy(key: object, value: object, written: str, node: Node) -> str:
    """Give what to write instead; empty if the allowed values say it all.

    :param key: the key, or the index of a list's entry, that has the value.
    :param written: the value as it stands in the file.
    :param node: JSON Schema of the value.
    """
    if better := _better(value, written, node):
        return f"write {better}" if isinstance(key, int) else f"write {key}: {better}"
    return ""


def _better(value: object, written: str, node: Node) -> str:
    kind = node.get("type")
    if kind in ("integer", "number"):
        return as_number(value)
    if kind == "boolean":
        return _as_boolean(value)
    if kind == "array" and isinstance(value, int) and not isinstance(value, bool):
        return f"[{value}]"
    if kind == "string" and isinstance(value, str):
        return _name(value, str(node.get("pattern", "")))
    if kind == "string" and isinstance(value, int | float):
        return f'"{written}"'
    return _section(value, node) if isinstance(value, str) else ""


def draft_length_remedy(value: object, key: object, *, in_key: bool) -> str:
    """Give what to write instead of a draft length, or of an entry of its map.

    :param value: what is wrong: the draft length, or a map's key or value.
    :param key: the key that has the draft length, or the map's key.
    :param in_key: whether ``value`` is a map's key.
    """
    if in_key and value == 0:
        return "delete the entry: a batch has at least 1 request"
    if not in_key and key != "draft_length" and value == 0:
        return "delete the entry; above the last one nothing is proposed"
    if number := as_number(value):
        return f"write {number}" if in_key else f"write {key}: {number}"
    if in_key:
        return "write a number of running requests as key, or delete the entry"
    if key == "draft_length" and value in (0, {}, "none", "off", False):
        return "for no speculation write method: none and delete draft_length"
    return ""


def as_number(value: object) -> str:
    """Give the number that a text or fraction stands for; empty if it is none."""
    if isinstance(value, str) and _GROUPED_DIGITS.fullmatch(value.strip()):
        digits = re.sub("[_, ]", "", value).lstrip("0") or "0"
        return f"{digits} (without quotes)" if len(digits) <= _MOST_DIGITS else ""
    if not isinstance(value, float) or not value.is_integer():
        return ""
    return str(int(value)) if abs(value) < _LARGEST_EXACT else ""


def _as_boolean(value: object) -> str:
    """Give the boolean that a word or number stands for; empty if it is none."""
    word = str(value).strip().lower()
    if word in ("true", "false"):
        return f"{word} (without quotes)"
    return _BOOLEANS.get(word, "")


def _name(value: str, pattern: str) -> str:
    """Give the name that was meant; an entry point is told by the colon in it."""
    if ":" in pattern:
        better = _entry_point(value)
        return better if re.fullmatch(pattern, better) else ""
    return _slug(value) if pattern else ""


def _entry_point(value: str) -> str:
    """Give module:attribute for a file's path, or for a name with dots only.

    >>> _entry_point("drafters/mine.py:make")
    'drafters.mine:make'
    >>> _entry_point("mine.make")
    'mine:make'
    """
    module, _, attribute = value.strip().removesuffix("()").partition(":")
    module = module.removeprefix("./").removesuffix(".py").replace("/", ".")
    if not attribute:
        module, _, attribute = module.rpartition(".")
    return f"{module.strip('.')}:{attribute.strip()}"


def _slug(name: str) -> str:
    return re.sub("[^a-z0-9._-]+", "-", name.lower()).strip("._-")[:80]


def _section(text: str, node: Node) -> str:
    """Give the section that a single word was meant to be, if that is clear."""
    methods = node.get("discriminator", {}).get("mapping")
    if isinstance(methods, Mapping):
        method = nearest(text, methods)
        return flow_text({"method": method}) if method else ""
    required = node.get("required", [])
    return flow_text({required[0]: text}) if len(required) == 1 else ""
