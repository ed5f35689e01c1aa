"""How a rule of ours is reported when a recipe is validated."""

from __future__ import annotations

from collections.abc import Collection

from pydantic import BaseModel
from pydantic_core import PydanticCustomError

Place = tuple[str | int, ...]
"""Keys and indices that lead to a value."""


def rule_error(
    place: str | Place, what: str, allowed: str, action: str = ""
) -> PydanticCustomError:
    """Make the error for a rule of ours, with all that a message needs.

    :param place: the key to point at, or the way to it, inside the section (or value)
        being validated; empty for that itself.
    :param what: what is wrong, to follow the name of the value; the value itself comes
        between the two if this begins with "which".
    """
    if isinstance(place, str):
        place = (place,) if place else ()
    details = {"place": place, "what": what, "allowed": allowed, "action": action}
    return PydanticCustomError("recipe_rule", "{what}; allowed: {allowed}", details)


def require_together(section: BaseModel, key: str, value: str, companion: str) -> None:
    """Refuse a word without the key that it needs, and that key without the word.

    :raises PydanticCustomError: naming the one that is there.
    """
    chosen = getattr(section, key) == value
    if chosen and getattr(section, companion) is None:
        raise rule_error(
            key,
            f"is {value}, and {companion} is not given",
            f"{key}: {value} together with {companion}",
            f"add {companion}, or delete {key}",
        )
    if not chosen and getattr(section, companion) is not None:
        raise rule_error(
            companion,
            f"has no effect: {key} is not {value}",
            f"{companion} only together with {key}: {value}",
            f"delete {companion}, or write {key}: {value}",
        )


def is_value(key: str, value: object, given: Collection[str]) -> str:
    """Say what a key is, and whether nobody wrote that: "is 4 by default".

    :param given: the keys that were written.
    """
    return f"is {value}" if key in given else f"is {value} by default"


def key_to_blame(keys: tuple[str, ...], given: Collection[str]) -> str:
    """Choose which of several keys to point at: the first that was written."""
    return next((key for key in keys if key in given), keys[0])
