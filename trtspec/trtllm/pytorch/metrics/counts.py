"""Whether counters make sense: whole, not negative, no more accepted than drafted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from trtspec.errors import RunError


def count(values: Mapping[str, Any], key: str, where: str) -> int | None:
    """Read one counter; None if it is absent or null.

    :param where: the record, for messages.
    :raises RunError: if it is no whole number of 0 or more.
    """
    value = values.get(key)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        nonsense(where, f"{key} is {value!r}", "a whole number of 0 or more")
    return value


def require_order(
    where: str, drafted: int | None, accepted: int | None, steps: int | None
) -> None:
    """Refuse more accepted than drafted tokens, or more steps than drafted tokens.

    :raises RunError: naming the record and the numbers.
    """
    if drafted is None:
        return
    if accepted is not None and accepted > drafted:
        nonsense(
            where,
            f"{accepted} accepted of {drafted} drafted tokens",
            "no more accepted than drafted tokens",
        )
    if steps is not None and steps > drafted:
        nonsense(
            where,
            f"{drafted} drafted tokens in {steps} requests with a draft",
            "at least one drafted token in each of them",
        )


def nonsense(where: str, what: str, allowed: str) -> NoReturn:
    """Refuse a record.

    :raises RunError: always.
    """
    raise RunError(
        what,
        where=where,
        allowed=allowed,
        action="use another source of acceptance figures, and report this one to "
        "TensorRT-LLM",
    )
