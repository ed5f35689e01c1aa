"""How the server says no: OpenAI's error document, with a status that fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from trtspec.serve.openai.fields import MISSING_CONTROLS

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

BAD_REQUEST, UNAUTHORIZED, NOT_FOUND = 400, 401, 404
NOT_ALLOWED, TOO_LARGE, TOO_MANY = 405, 413, 429
FAILED, BAD_GATEWAY, UNAVAILABLE, TOO_LATE = 500, 502, 503, 504

_TYPES = {
    UNAUTHORIZED: "authentication_error",
    TOO_MANY: "rate_limit_error",
    FAILED: "server_error",
    BAD_GATEWAY: "server_error",
    UNAVAILABLE: "server_unavailable",
    TOO_LATE: "timeout_error",
}
_MOST_FAULTS = 5
_LONGEST_NAME = 60
_UNIONS = frozenset({"str", "list", "constrained-str", "float", "int", "bool"})


class ErrorBody(BaseModel):
    """What went wrong."""

    message: str = Field(description="What is wrong, what is allowed, what to do.")
    type: str = Field(description="The kind of error.")
    param: str | None = Field(default=None, description="The field it is about.")
    code: str | None = Field(default=None, description="A short name of it.")


class ErrorDocument(BaseModel):
    """The body of every answer that is none."""

    error: ErrorBody


@dataclass(eq=False)
class RefusalError(Exception):
    """A request that is not answered, and why.

    :param headers: such as Retry-After.
    :param logged: what the server's log says in place of the message, which may quote
        the request.
    """

    status: int
    message: str
    param: str | None = None
    code: str | None = None
    headers: Mapping[str, str] | None = None
    logged: str | None = None

    @property
    def document(self) -> ErrorDocument:
        """The body of the answer."""
        kind = _TYPES.get(self.status, "invalid_request_error")
        body = ErrorBody(
            message=self.message, type=kind, param=self.param, code=self.code
        )
        return ErrorDocument(error=body)


def from_faults(faults: Iterable[ErrorDetails]) -> RefusalError:
    """Put what pydantic found wrong into words; the first fields are named."""
    said: dict[str, ErrorDetails] = {}
    for fault in faults:
        said.setdefault(_field(fault), fault)
    shown = list(said.items())[:_MOST_FAULTS]
    more = len(said) - len(shown)
    rest = [f"and {more} more"] if more else []
    named = [_named(field, _words(fault, field)) for field, fault in shown]
    logged = [_named(field, fault["type"]) for field, fault in shown]
    return RefusalError(
        BAD_REQUEST,
        "; ".join(named + rest),
        param=next(iter(said), None) or None,
        logged="; ".join(logged + rest),
    )


def _named(field: str, words: str) -> str:
    return f"{field}: {words}" if field else words


def _field(fault: ErrorDetails) -> str:
    """Name the field as the request's author would: no names of our types."""
    parts = [str(p) for p in fault["loc"] if not _is_type_name(str(p))]
    return _short(".".join(parts))


def _is_type_name(part: str) -> bool:
    return "[" in part or "(" in part or part in _UNIONS


def _words(fault: ErrorDetails, field: str) -> str:
    if fault["type"] == "extra_forbidden":
        return (
            "not known here, and not dropped silently; leave it out "
            "(/openapi.json has all fields)"
        )
    if field in MISSING_CONTROLS:
        neutral = 1 if field == "repetition_penalty" else 0
        value = "an empty one" if field == "logit_bias" else neutral
        return f"this engine has no such control; only {value} is taken"
    if fault["type"] == "missing":
        return "is missing"
    if fault["type"] == "json_invalid":
        return fault["msg"]
    return f"{fault['msg']}; given: {_short(repr(fault['input']))}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}..."
