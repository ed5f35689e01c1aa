"""How much one server takes before it refuses."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class ServeLimits(BaseModel):
    """Bounds of a server; what is beyond them is refused at once, with the reason."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    waiting: int = Field(
        default=64, ge=0, description="Requests that may wait for a place; then 429."
    )
    connections: int = Field(
        default=1024, ge=1, description="Open connections; then 503 without reading."
    )
    body_bytes: int = Field(
        default=4_000_000, ge=1, description="Bytes of a request's body; then 413."
    )
    held_bytes: int = Field(
        default=64_000_000,
        ge=1,
        description="Bytes of the bodies of all requests that are being answered; then "
        "429.",
    )
    choices: int = Field(
        default=16, ge=1, description="Answers of one request: prompts times n."
    )
    head_seconds: float = Field(
        default=30.0,
        gt=0,
        description="Seconds that a connection gets to send a request's head, and its "
        "whole body.",
    )
    write_seconds: float = Field(
        default=60.0,
        gt=0,
        description="Seconds that a client may leave sent bytes unread; then it counts "
        "as gone.",
    )
    request_seconds: float = Field(
        default=600.0,
        gt=0,
        description="Seconds that a request may take in all; then it ends with an "
        "error.",
    )
    hang_seconds: float = Field(
        default=300.0,
        gt=0,
        description="Seconds without an engine step, while requests run, after which "
        "the server says that it is not healthy.",
    )
