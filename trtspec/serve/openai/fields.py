"""Fields that requests for chats and for completions have in common."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

MAX_TEMPERATURE = 2.0
MAX_LOGPROBS = 20
MAX_STOPS = 4
MAX_SEED = 2**63 - 1

StopText = Annotated[str, Field(min_length=1, max_length=1000)]


class Document(BaseModel):
    """A part of a request; what it does not know is refused, never dropped."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class StreamOptions(Document):
    """What a stream tells beside its text."""

    include_usage: bool = Field(
        default=False, description="Send a last chunk with the token counts."
    )


class AskedSpeculation(Document):
    """This request's own speculation; an extension of trtspec."""

    enabled: bool = Field(
        default=True, description="false decodes without drafting: the off arm."
    )
    draft_length: int | None = Field(
        default=None,
        ge=1,
        description="Tokens proposed per step, up to what the artifact was built for.",
    )


def _integral(value: object) -> object:
    """JSON has one kind of number: take 1.0 where 1 is meant."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(_integral), Field(strict=True)]
Flag = Annotated[bool, Field(strict=True)]
Number = Annotated[float, Field(strict=True)]
NoNumber = Annotated[float, Field(ge=0, le=0, strict=True)]
"""A control that this engine does not have: only its neutral value is taken."""
NoMultiplier = Annotated[float, Field(ge=1, le=1, strict=True)]


class Common(Document):
    """What a request may say, whatever it sends."""

    model: str = Field(description="The served name; see /v1/models.")
    temperature: Annotated[float, Field(ge=0, le=MAX_TEMPERATURE, strict=True)] | (
        None
    ) = Field(
        default=None, description="0 is greedy. 1 if not given, as in OpenAI's API."
    )
    top_p: Annotated[float, Field(gt=0, le=1, strict=True)] | None = Field(
        default=None, description="Nucleus mass; 1 if not given."
    )
    top_k: Annotated[Whole, Field(ge=-1, le=1_000_000)] | None = Field(
        default=None,
        description="Keep the k likeliest tokens; 0 or -1 keeps all. An extension.",
    )
    seed: Annotated[Whole, Field(ge=-MAX_SEED - 1, le=MAX_SEED)] | None = Field(
        default=None,
        description="Seed of the request; choice i draws from the i-th seed after it. "
        "Chosen by chance if not given.",
    )
    n: Annotated[Whole, Field(ge=1)] | None = Field(
        default=None, description="Answers per prompt."
    )
    stop: StopText | Annotated[list[StopText], Field(max_length=MAX_STOPS)] | None = (
        Field(default=None, description="Texts before which the output ends.")
    )
    stream: Flag | None = Field(
        default=None, description="Send the answer as server-sent events."
    )
    stream_options: StreamOptions | None = None
    ignore_eos: Flag | None = Field(
        default=None,
        description="Go on past the end of the sequence. An extension.",
    )
    return_token_ids: Flag | None = Field(
        default=None,
        description="Give token ids beside the text, as vLLM does. An extension.",
    )
    speculation: AskedSpeculation | None = None

    # without effect on the output: taken and not used
    user: str | None = Field(default=None, description="Not used.")
    metadata: dict[str, str] | None = Field(default=None, description="Not used.")
    store: Flag | None = Field(default=None, description="Nothing is stored.")
    service_tier: str | None = Field(default=None, description="Not used.")
    safety_identifier: str | None = Field(default=None, description="Not used.")
    prompt_cache_key: str | None = Field(default=None, description="Not used.")

    # controls that the engine does not have: dropped silently they would falsify
    frequency_penalty: NoNumber | None = Field(default=None, description="Only 0.")
    presence_penalty: NoNumber | None = Field(default=None, description="Only 0.")
    repetition_penalty: NoMultiplier | None = Field(default=None, description="Only 1.")
    min_p: NoNumber | None = Field(default=None, description="Only 0.")
    min_tokens: NoNumber | None = Field(default=None, description="Only 0.")
    logit_bias: Annotated[dict[str, float], Field(max_length=0)] | None = Field(
        default=None, description="Only an empty one."
    )

    @property
    def stops(self) -> tuple[str, ...]:
        """The stop texts."""
        if self.stop is None:
            return ()
        return (self.stop,) if isinstance(self.stop, str) else tuple(self.stop)

    @property
    def usage_wanted(self) -> bool:
        """Whether a stream ends with the token counts."""
        return bool(self.stream_options and self.stream_options.include_usage)


MISSING_CONTROLS = frozenset(
    {
        *("frequency_penalty", "presence_penalty", "repetition_penalty"),
        *("min_p", "min_tokens", "logit_bias"),
    }
)
"""Fields of which only the neutral value is taken."""

Role = Literal["system", "developer", "user", "assistant"]
