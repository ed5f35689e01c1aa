"""What a recipe may write as a draft tree, and what is wrong with anything else."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from trtspec.methods.draft_length import MAX_DRAFT_LENGTH
from trtspec.methods.faults import rule_error
from trtspec.methods.trees import DYNAMIC, NAMED_TREES, Paths

ALLOWED_PATHS = "a list of paths such as [[0], [0, 0], [1]], each with its parent in it"
ALLOWED_PATH = "a path such as [0, 1]: the ranks of its tokens from the root down"
ALLOWED_RANK = f"a whole number from 0 (the likeliest) to {MAX_DRAFT_LENGTH - 1}"

_LONGEST_SHOWN = 12


def allowed_tree(*extra: str) -> str:
    """Say what can stand for a tree.

    :param extra: words that a method takes besides the names of trees.
    """
    return ", ".join([*NAMED_TREES, *extra]) + f", or {ALLOWED_PATHS}"


def _checked(value: object, extra: tuple[str, ...]) -> object:
    if isinstance(value, str):
        return _checked_name(value, extra)
    if not isinstance(value, Sequence) or not value:
        no_nodes = isinstance(value, Sequence)
        what = "which has no nodes" if no_nodes else "which is no tree"
        raise rule_error("", what, allowed_tree(*extra))
    paths = tuple(_checked_path(path, place) for place, path in enumerate(value))
    _require_tree(paths)
    return paths


def _checked_name(name: str, extra: tuple[str, ...]) -> str:
    names = [*NAMED_TREES, *extra]
    if name in names:
        return name
    near = get_close_matches(name.lower(), names, n=1)
    action = f"write tree: {near[0]}" if near else ""
    if name.lstrip().startswith("["):
        action = "write the list without quotes"
    raise rule_error("", "which is not known", allowed_tree(*extra), action)


def _checked_path(path: object, place: int) -> tuple[int, ...]:
    if not isinstance(path, Sequence) or isinstance(path, str) or not path:
        raise rule_error((place,), "which is no path", ALLOWED_PATH)
    for level, rank in enumerate(path):
        if type(rank) is not int or not 0 <= rank < MAX_DRAFT_LENGTH:
            raise rule_error((place, level), "which is no rank", ALLOWED_RANK)
    return tuple(path)


def _require_tree(paths: Paths) -> None:
    """Refuse paths that are no tree, or one that no engine has room for.

    :raises PydanticCustomError: naming the path to change.
    """
    known = set(paths)
    seen: set[tuple[int, ...]] = set()
    for place, path in enumerate(paths):
        if path in seen:
            what = f"is {_text(path)}, which the list has already"
            raise rule_error((place,), what, "each path once", "delete it")
        if len(path) > 1 and path[:-1] not in known:
            parent = _text(path[:-1])
            what = f"is {_text(path)}, but its parent {parent} is not in the list"
            action = f"add {parent}, or delete the path"
            raise rule_error((place,), what, ALLOWED_PATHS, action)
        seen.add(path)
    if len(paths) > MAX_DRAFT_LENGTH:
        nodes = f"up to {MAX_DRAFT_LENGTH} nodes"
        raise rule_error("", f"has {len(paths)} nodes", nodes, "delete the others")


def _text(path: tuple[int, ...]) -> str:
    ranks = [*map(str, path[:_LONGEST_SHOWN]), *["..."][: len(path) - _LONGEST_SHOWN]]
    return f"[{', '.join(ranks)}]"


_PATHS_SCHEMA = {
    "type": "array",
    "description": "Paths from the root down; the parent of each is in the list too.",
    "minItems": 1,
    "maxItems": MAX_DRAFT_LENGTH,
    "uniqueItems": True,
    "items": {
        "type": "array",
        "minItems": 1,
        "items": {"type": "integer", "minimum": 0, "maximum": MAX_DRAFT_LENGTH - 1},
    },
}


def _json_schema(*extra: str) -> WithJsonSchema:
    names = {"enum": [*NAMED_TREES, *extra], "description": "A tree with a name."}
    return WithJsonSchema({"anyOf": [names, _PATHS_SCHEMA]})


_DESCRIPTION = (
    "The nodes that are drafted: a name, or a list of paths, each the ranks of its "
    "tokens from the root down."
)
Tree = Annotated[
    str | Paths,
    BeforeValidator(partial(_checked, extra=())),
    _json_schema(),
    Field(description=_DESCRIPTION, examples=[[[0], [0, 0], [1]]]),
]
DynamicTree = Annotated[
    str | Paths,
    BeforeValidator(partial(_checked, extra=(DYNAMIC,))),
    _json_schema(DYNAMIC),
    Field(
        description=f"{_DESCRIPTION} dynamic grows a tree by the drafter's confidence "
        "(EAGLE-2).",
        examples=[DYNAMIC],
    ),
]
