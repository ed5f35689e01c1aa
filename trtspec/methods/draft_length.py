"""How many tokens to propose: one number, or a map by running requests."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator, Field, ValidationInfo
from pydantic_core import PydanticCustomError

MAX_DRAFT_LENGTH = 256
"""Beyond this no method gains: the longest draft that EAGLE engines can be built for
in TensorRT-LLM, the largest limit of any of its methods."""

MAX_RUNNING_REQUESTS = 4096
"""The largest batch that a recipe may ask for, hence the largest key of a map."""

ALLOWED_DRAFT_LENGTH = (
    f"a whole number from 1 to {MAX_DRAFT_LENGTH}, or a map such as {{8: 4, 32: 2}} "
    "(up to 8 running requests 4 tokens, up to 32 requests 2, above that none)"
)
"""The two forms in words, for messages and help."""

ALLOWED_DRAFT_ENTRY = (
    f"running requests from 1 to {MAX_RUNNING_REQUESTS} as key, "
    f"tokens from 1 to {MAX_DRAFT_LENGTH} as value, such as 8: 4"
)
"""An entry of the map in words."""


class DraftLengthFault(NamedTuple):
    """One thing wrong with a draft length.

    :param entry: the key of the map's entry that it is about; empty for all of it.
    :param what: what is wrong, to follow the value: "is below 1".
    :param in_key: whether that is said of the entry's key, not of its value.
    """

    entry: tuple[int | str, ...]
    what: str
    in_key: bool = False


def draft_length_faults(value: object) -> tuple[DraftLengthFault, ...]:
    """List what keeps a value from being a draft length; empty if nothing does."""
    if isinstance(value, Mapping):
        if not value:
            return (DraftLengthFault((), "is empty"),)
        return tuple(fault for item in value.items() for fault in _entry_faults(*item))
    what = _number_fault(value, MAX_DRAFT_LENGTH)
    return (DraftLengthFault((), what),) if what else ()


def _entry_faults(running: int | str, length: object) -> Iterator[DraftLengthFault]:
    if what := _number_fault(running, MAX_RUNNING_REQUESTS):
        yield DraftLengthFault((running,), what, in_key=True)
    if what := _number_fault(length, MAX_DRAFT_LENGTH):
        yield DraftLengthFault((running,), what)


def _number_fault(value: object, largest: int) -> str:
    if not isinstance(value, int) or isinstance(value, bool):
        return "is not a whole number"
    if value < 1:
        return "is below 1"
    return f"is above {largest}" if value > largest else ""


def _checked(value: object, info: ValidationInfo) -> object:
    if isinstance(value, Mapping) and info.mode == "json":
        value = {_json_key(key): length for key, length in value.items()}
    if draft_length_faults(value):
        # in place of one error per form of the union, which nobody could read
        raise PydanticCustomError(
            "draft_length", "{allowed} is required", {"allowed": ALLOWED_DRAFT_LENGTH}
        )
    return dict(sorted(value.items())) if isinstance(value, Mapping) else value


def _json_key(key: object) -> object:
    return int(key) if isinstance(key, str) and key.isdecimal() else key


DraftTokens = Annotated[
    int,
    Field(
        ge=1,
        le=MAX_DRAFT_LENGTH,
        strict=True,
        description="Tokens proposed per step.",
    ),
]
RunningRequests = Annotated[int, Field(ge=1, le=MAX_RUNNING_REQUESTS, strict=True)]
DraftSchedule = Annotated[
    dict[RunningRequests, DraftTokens],
    Field(
        min_length=1,
        description="Up to so many running requests: so many tokens per step. Above "
        "the last key nothing is proposed.",
        json_schema_extra={"propertyNames": {"pattern": "^[1-9][0-9]*$"}},
    ),
]
DraftLength = Annotated[DraftTokens | DraftSchedule, BeforeValidator(_checked)]


def draft_length_at(draft_length: int | Mapping[int, int], running: int) -> int:
    """Give the draft length K for ``running`` requests in the batch.

    A map key means "up to this many running requests"; above the last key nothing
    is proposed.
    """
    if isinstance(draft_length, int):
        return draft_length
    return next((k for limit, k in draft_length.items() if running <= limit), 0)


def longest_draft(draft_length: int | Mapping[int, int]) -> int:
    """Give the largest K that can occur."""
    if isinstance(draft_length, int):
        return draft_length
    return max(draft_length.values())
