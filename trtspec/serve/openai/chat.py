"""What a request to /v1/chat/completions may say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trtspec.serve.openai.fields import (
    MAX_LOGPROBS,
    WHOLE,
    Common,
    Document,
    Flag,
    Role,
)


class TextPart(Document):
    """A piece of a message."""

    type: Literal["text"]
    text: str


class ChatMessage(Document):
    """One message of a conversation."""

    role: Role = Field(description="developer is read as system.")
    content: str | Annotated[list[TextPart], Field(min_length=1, fail_fast=True)] = (
        Field(description="Text; several parts are joined.")
    )
    name: str | None = Field(default=None, description="Not used.")

    def for_template(self) -> dict[str, str]:
        """Give the message as chat templates take it."""
        role = "system" if self.role == "developer" else self.role
        if isinstance(self.content, str):
            return {"role": role, "content": self.content}
        return {"role": role, "content": "".join(p.text for p in self.content)}


class TextFormat(Document):
    """The only form of an answer."""

    type: Literal["text"]


class ChatRequest(Common):
    """A request to /v1/chat/completions."""

    messages: Annotated[
        list[ChatMessage], Field(min_length=1, max_length=1000, fail_fast=True)
    ]
    max_completion_tokens: Annotated[int, Field(strict=True, ge=1), WHOLE] | None = (
        Field(
            default=None,
            description="Most output tokens; as many as there is room for if not "
            "given.",
        )
    )
    max_tokens: Annotated[int, Field(strict=True, ge=1), WHOLE] | None = Field(
        default=None, description="Older name of max_completion_tokens."
    )
    logprobs: Flag | None = Field(
        default=None, description="Give each token's log-probability."
    )
    top_logprobs: (
        Annotated[int, Field(strict=True, ge=0, le=MAX_LOGPROBS), WHOLE] | None
    ) = Field(
        default=None,
        description="Give those of so many of the likeliest tokens, too; needs "
        "logprobs.",
    )
    response_format: TextFormat | None = Field(default=None, description="Only text.")
    tools: Annotated[list[object], Field(max_length=0)] | None = Field(
        default=None, description="Only an empty list."
    )
    tool_choice: Literal["none"] | None = Field(default=None, description="Only none.")
    modalities: tuple[Literal["text"]] | None = Field(
        default=None, description="Only text."
    )

    @property
    def wanted_tokens(self) -> int | None:
        """Most output tokens; None if the request does not say."""
        return self.max_completion_tokens or self.max_tokens

    @property
    def wanted_logprobs(self) -> int | None:
        """How many alternatives beside each token's log-probability; None for none."""
        return (self.top_logprobs or 0) if self.logprobs else None
