"""What a request to /v1/completions may say."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trtspec.serve.openai.fields import FALSE, MAX_LOGPROBS, WHOLE, Common

USUAL_TOKENS = 16
"""Most output tokens of a completion that does not say; as in OpenAI's API."""

TokenId = Annotated[int, Field(ge=0, strict=True), WHOLE]
Tokens = Annotated[list[TokenId], Field(min_length=1, fail_fast=True)]
Text = Annotated[str, Field(min_length=1, strict=True)]


class CompletionRequest(Common):
    """A request to /v1/completions."""

    prompt: (
        Text
        | Tokens
        | Annotated[list[Text], Field(min_length=1, fail_fast=True)]
        | Annotated[list[Tokens], Field(min_length=1, fail_fast=True)]
    ) = Field(description="Text or token ids, or several of either.")
    max_tokens: Annotated[int, Field(strict=True, ge=1), WHOLE] | None = Field(
        default=None, description=f"Most output tokens; {USUAL_TOKENS} if not given."
    )
    logprobs: (
        Annotated[int, Field(strict=True, ge=0, le=MAX_LOGPROBS), WHOLE] | None
    ) = Field(
        default=None,
        description="Give each token's log-probability, and those of so many of the "
        "likeliest.",
    )
    echo: Annotated[Literal[False], FALSE] | None = Field(
        default=None, description="Only false."
    )
    suffix: Literal[""] | None = Field(default=None, description="Only empty.")
    best_of: Annotated[int, Field(strict=True, ge=1, le=1), WHOLE] | None = Field(
        default=None, description="Only 1."
    )

    @property
    def prompts(self) -> list[str | list[int]]:
        """The prompts, one or several."""
        if isinstance(self.prompt, str):
            return [self.prompt]
        if isinstance(self.prompt[0], int):
            return [self.prompt]
        return list(self.prompt)

    @property
    def wanted_tokens(self) -> int:
        """Most output tokens."""
        return self.max_tokens or USUAL_TOKENS

    @property
    def wanted_logprobs(self) -> int | None:
        """How many alternatives beside each token's log-probability; None for none."""
        return self.logprobs
