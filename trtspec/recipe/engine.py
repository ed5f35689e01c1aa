"""What a recipe may say to TensorRT-LLM's engine backend alone."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from trtspec.methods import MAX_DRAFT_LENGTH, rule_error
from trtspec.recipe.section import MAX_TOKENS, Section

KvCache = Literal["auto", "fp8", "int8"]

_FLAG_NAME = r"^[A-Za-z][A-Za-z0-9_-]*$"
_ALLOWED_NAME = "the name of a flag without the dashes before it: multiple_profiles"
_ALLOWED_VALUE = "text, a whole number, true or false"


def _flag_name(name: object) -> object:
    if isinstance(name, str) and re.fullmatch(_FLAG_NAME, name):
        return name
    bare = name.lstrip("-") if isinstance(name, str) else ""
    action = f"write {bare}" if re.fullmatch(_FLAG_NAME, bare) else ""
    raise rule_error("", "is no name of a flag", _ALLOWED_NAME, action)


def _flag_value(value: object) -> object:
    # in place of one error per type of the union, which nobody could read
    if isinstance(value, str | int):
        return value
    action = "put it in quotes" if isinstance(value, float) else ""
    raise rule_error("", "which no flag can be", _ALLOWED_VALUE, action)


FlagName = Annotated[str, BeforeValidator(_flag_name)]
FlagValue = Annotated[
    Annotated[str, Field(description="A flag's word, such as enable, or a path.")]
    | Annotated[int, Field(description="A flag's number.")]
    | Annotated[bool, Field(description="Whether a flag without a value is given.")],
    BeforeValidator(_flag_value),
]


class EngineOptions(Section):
    """How TensorRT-LLM's engine backend builds; the other backends have none of it."""

    max_draft_length: int | None = Field(
        default=None,
        ge=1,
        le=MAX_DRAFT_LENGTH,
        description="Draft tokens per request that the engine has room for, where "
        "drafts come from outside (draft_target, ngram); the longest draft if unset. "
        "Up to it the draft length can change without a new engine.",
    )
    max_num_tokens: int | None = Field(
        default=None,
        ge=1,
        le=MAX_TOKENS,
        description="Most tokens in one forward of the engine, over all requests; "
        "derived from the limits if unset.",
    )
    kv_cache: KvCache = Field(
        default="auto",
        description="Type of the KV cache; auto is fp8 for fp8 and nvfp4 weights, else "
        "target.dtype.",
    )
    gemm_plugin: str | None = Field(
        default=None,
        min_length=1,
        description="Value of trtllm-build --gemm_plugin; target.dtype if unset and "
        "the weights are not quantized, else auto.",
    )
    calibration_dataset: str | None = Field(
        default=None,
        min_length=1,
        description="Dataset that quantization is calibrated with: a directory or a "
        "hub id; quantize.py's own default if unset.",
    )
    calibration_samples: int | None = Field(
        default=None,
        ge=1,
        le=MAX_TOKENS,
        description="Samples of it; quantize.py's own default if unset.",
    )
    build_flags: dict[FlagName, FlagValue] = Field(
        default={},
        description="Further flags of trtllm-build without the dashes, such as "
        "{multiple_profiles: enable}; checked against the version's own list.",
        examples=[{"multiple_profiles": "enable"}],
        json_schema_extra={"propertyNames": {"pattern": _FLAG_NAME}},
    )
