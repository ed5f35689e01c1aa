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


def _integral(value: object) -> object:
    """JSON has one kind of number: take 1.0 where 1 is meant."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_integral)
"""Stands behind the bounds of a strict int, which pydantic else describes wrongly."""


def _flag(value: object) -> object:
    """Refuse 0 where false is meant, which are equal in Python."""
    if value is not False:
        raise ValueError("only false is taken")
    return value


FALSE = BeforeValidator(_flag)
Flag = Annotated[bool, Field(strict=True)]
Number = Annotated[float, Field(strict=True)]
NoNumber = Annotated[float, Field(ge=0, le=0, strict=True)]
"""A control that this engine does not have: only its neutral value is taken."""
NoMultiplier = Annotated[float, Field(ge=1, le=1, strict=True)]


class StreamOptions(Document):
    """What a stream tells beside its text."""

    include_usage: Flag = Field(
        default=False, description="Send a last chunk with the token counts."
    )
    continuous_usage_stats: Flag = Field(
        default=False,
        description="Give the token counts until then in every chunk, as vLLM and "
        "TensorRT-LLM do. An extension.",
    )


class AskedSpeculation(Document):
    """This request's own speculation; an extension of trtspec."""

    enabled: Flag = Field(
        default=True, description="false decodes without drafting: the off arm."
    )
    draft_length: Annotated[int, Field(strict=True, ge=1), WHOLE] | None = Field(
        default=None,
        description="Tokens proposed per step, up to what the artifact was built for.",
    )


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
    top_k: Annotated[int, Field(strict=True, ge=-1, le=1_000_000), WHOLE] | None = (
        Field(
            default=None,
            description="Keep the k likeliest tokens; 0 or -1 keeps all. An extension.",
        )
    )
    seed: (
        Annotated[int, Field(strict=True, ge=-MAX_SEED - 1, le=MAX_SEED), WHOLE] | None
    ) = Field(
        default=None,
        description="Seed of the request; choice i draws from the i-th seed after it. "
        "Chosen by chance if not given.",
    )
    n: Annotated[int, Field(strict=True, ge=1), WHOLE] | None = Field(
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

    @property
    def usage_everywhere(self) -> bool:
        """Whether each chunk of a stream has the token counts until then."""
        options = self.stream_options
        return bool(options and options.continuous_usage_stats)


MISSING_CONTROLS = frozenset(
    {
        *("frequency_penalty", "presence_penalty", "repetition_penalty"),
        *("min_p", "min_tokens", "logit_bias"),
    }
)
"""Fields of which only the neutral value is taken."""

Role = Literal["system", "developer", "user", "assistant"]
