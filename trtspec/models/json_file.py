"""How a checkpoint's JSON files are read, with errors that say what is wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from trtspec.errors import UsageError

_INCOMPLETE = "fetch the checkpoint again: this file is damaged or incomplete"


_NAMES = {
    bool: "true or false", int: "a number", float: "a number", str: "a string",
    list: "a list", dict: "an object",
}  # fmt: skip


def json_name(value: object) -> str:
    """Say what kind of JSON a value is, to follow "holds".

    >>> json_name(None), json_name([1])
    ('null', 'a list')
    """
    return _NAMES.get(type(value), "null")


def read_json_object(path: Path) -> dict[str, Any]:
    """Read a file that holds one JSON object.

    :raises UsageError: if the file is missing, not UTF-8, not JSON or not an object.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(
            f"{path.name} is missing",
            where=str(path.parent),
            action="give the directory of a complete checkpoint",
        ) from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"byte {error.start} is not UTF-8", where=str(path), action=_INCOMPLETE
        ) from None
    except json.JSONDecodeError as error:
        raise UsageError(
            f"not valid JSON: {error.msg} in column {error.colno}",
            where=f"{path}:{error.lineno}",
            action=_INCOMPLETE,
        ) from None
    except (RecursionError, ValueError) as error:
        raise UsageError(
            f"not readable as JSON: {error}", where=str(path), action=_INCOMPLETE
        ) from None
    if not isinstance(value, dict):
        raise UsageError(
            f"holds {json_name(value)}",
            where=str(path),
            allowed="a JSON object",
            action=_INCOMPLETE,
        )
    return value
