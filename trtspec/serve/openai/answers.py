"""The documents that the server answers with."""

from __future__ import annotations

from typing import ClassVar, Literal, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    SerializerFunctionWrapHandler,
    model_serializer,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

FinishReason = Literal["stop", "length"]
_EXTENSIONS = frozenset({"speculation", "token_ids", "prompt_token_ids"})


class Part(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(
        frozen=True, json_schema_serialization_defaults_required=True
    )
    left_out: ClassVar[frozenset[str]] = frozenset()
    """Fields that are not written if they are null."""

    @model_serializer(mode="wrap")
    def _written(self, usual: SerializerFunctionWrapHandler) -> dict[str, object]:
        """Leave out what many clients do not expect to be null, or at all."""
        written: dict[str, object] = usual(self)
        return {
            key: value
            for key, value in written.items()
            if value is not None or key not in self.left_out
        }

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the fields; of the serializer pydantic knows only that it writes."""
        fields = {k: v for k, v in core_schema.items() if k != "serialization"}
        schema = handler(cast("CoreSchema", fields))
        described = handler.resolve_ref_schema(schema)
        described["required"] = [
            name for name in described.get("required", ()) if name not in cls.left_out
        ]
        return schema


class Usage(Part):
    """Token counts of one request, over all its answers."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class SpeculationFigures(Part):
    """What speculation did for one answer; an extension of trtspec."""

    method: str = Field(description="The artifact's method; none without any.")
    enabled: bool = Field(description="Whether this request was drafted for.")
    steps: int | None = Field(description="Verification steps.")
    drafted: int | None = Field(description="Draft tokens offered; null if not told.")
    accepted: int | None = Field(description="Those that became output.")
    acceptance_rate: float | None = Field(description="accepted / drafted.")
    acceptance_length: float | None = Field(description="1 + accepted / steps.")
    lossy: str = Field(
        description="Why the output need not be the target model's own; empty if it is."
    )


class TopLogprob(Part):
    """A token and the natural logarithm of its probability."""

    token: str
    logprob: float
    bytes: list[int] | None = Field(description="UTF-8; null where not known.")


class ChatLogprob(TopLogprob):
    """A token of the output, with the likeliest ones at its place."""

    top_logprobs: list[TopLogprob]


class ChatLogprobs(Part):
    """Log-probabilities of an answer, or of a piece of it."""

    content: list[ChatLogprob]
    refusal: None = None


class CompletionLogprobs(Part):
    """Log-probabilities of a completion, one entry per token."""

    tokens: list[str]
    token_logprobs: list[float]
    top_logprobs: list[dict[str, float]]
    text_offset: list[int] = Field(description="Where each token's text begins.")


class AnswerMessage(Part):
    """The message that the model wrote."""

    role: Literal["assistant"] = "assistant"
    content: str
    refusal: None = None


class ChatChoice(Part):
    """One answer."""

    left_out = _EXTENSIONS
    index: int
    message: AnswerMessage
    logprobs: ChatLogprobs | None = None
    finish_reason: FinishReason
    speculation: SpeculationFigures
    token_ids: list[int] | None = None


class ChatAnswer(Part):
    """The answer to /v1/chat/completions."""

    left_out = _EXTENSIONS
    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str
    choices: list[ChatChoice]
    usage: Usage
    prompt_token_ids: list[int] | None = None


class Delta(Part):
    """What is new in a message."""

    left_out = frozenset({"role"})
    content: str
    role: Literal["assistant"] | None = None


class ChatChunkChoice(Part):
    """A piece of one answer."""

    left_out = _EXTENSIONS
    index: int
    delta: Delta
    logprobs: ChatLogprobs | None = None
    finish_reason: FinishReason | None = None
    speculation: SpeculationFigures | None = None
    token_ids: list[int] | None = None


class ChatChunk(Part):
    """One event of a streamed chat."""

    left_out = _EXTENSIONS
    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str
    choices: list[ChatChunkChoice]
    usage: Usage | None = None
    prompt_token_ids: list[int] | None = None


class CompletionChoice(Part):
    """One completion, or a piece of it."""

    left_out = _EXTENSIONS
    index: int
    text: str
    logprobs: CompletionLogprobs | None = None
    finish_reason: FinishReason | None = None
    speculation: SpeculationFigures | None = None
    token_ids: list[int] | None = None
    prompt_token_ids: list[int] | None = None


class CompletionAnswer(Part):
    """The answer to /v1/completions, and each event of a streamed one."""

    id: str
    object: Literal["text_completion"] = "text_completion"
    created: int
    model: str
    choices: list[CompletionChoice]
    usage: Usage | None = None


class ModelCard(Part):
    """A served model."""

    id: str
    created: int
    owned_by: str = "trtspec"
    max_model_len: int = Field(description="Most tokens of prompt and output.")
    trtspec: dict[str, str | int] = Field(description="The artifact behind it.")
    object: Literal["model"] = "model"


class ModelList(Part):
    """The answer to /v1/models."""

    object: Literal["list"] = "list"
    data: list[ModelCard]


class State(Part):
    """The answer to /health and /ready."""

    status: str
    reason: str = ""
