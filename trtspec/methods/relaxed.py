"""How a recipe asks for relaxed acceptance while a model thinks, which is lossy."""

from __future__ import annotations

from collections.abc import Mapping

from trtspec.methods.faults import rule_error

LOSSY = "relaxed acceptance keeps any of the likeliest tokens within a margin"


def require_relaxed(
    acceptance: str, needed: Mapping[str, object], optional: Mapping[str, object]
) -> None:
    """Refuse relaxed acceptance without what it needs, and that without it.

    :param needed: keys that come with it, with their values; None is unset.
    :param optional: keys that may come with it.
    :raises PydanticCustomError: naming the key to change.
    """
    if acceptance == "relaxed":
        for key in (key for key, value in needed.items() if value is None):
            raise rule_error(
                "acceptance",
                f"is relaxed, and {key} is not given",
                f"relaxed together with {' and '.join(needed)}",
                f"add {key}, or delete acceptance",
            )
        return
    for key, value in {**needed, **optional}.items():
        if value is not None:
            raise rule_error(
                key,
                "has no effect: acceptance is not relaxed",
                f"{key} only together with acceptance: relaxed",
                f"delete {key}, or write acceptance: relaxed",
            )
