"""What a recipe may say: target model, speculation, limits, sampling, workload."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from trtspec.methods import (
    MAX_RUNNING_REQUESTS,
    Quantization,
    Speculation,
    rule_error,
)
from trtspec.recipe.engine import EngineOptions
from trtspec.recipe.pytorch import PyTorchOptions
from trtspec.recipe.section import MAX_TOKENS, Section
from trtspec.recipe.tuned import Tuned

SCHEMA = "trtspec/v1"
NAME_PATTERN = r"^[a-z0-9][a-z0-9._-]*$"
NAME_RULE = (
    "a-z, 0-9, dot, dash and underscore, beginning with a letter or digit; "
    "at most 80 characters"
)
Backend = Literal["tensorrt", "pytorch", "reference"]
Dtype = Literal["float32", "bfloat16", "float16"]
Concurrency = Annotated[int, Field(ge=1, le=MAX_RUNNING_REQUESTS, strict=True)]


class Target(Section):
    """The target model: the one whose output speculation must not change."""

    model: str = Field(
        min_length=1,
        description="A directory (relative to the recipe), a Hugging Face id, or a "
        "demo model such as demo:smollm2-135m-instruct.",
        examples=["demo:smollm2-135m-instruct"],
    )
    revision: str | None = Field(
        default=None,
        min_length=1,
        description="Branch, tag or commit on the hub; its default if unset.",
    )
    family: str | None = Field(
        default=None,
        min_length=1,
        description="model_type of the checkpoint's configuration, such as llama; lets "
        "plan work before the checkpoint is on this machine.",
        examples=["llama"],
    )
    chat_template: str | None = Field(
        default=None,
        min_length=1,
        description="A file with the chat template (Jinja), relative to the recipe; "
        "for checkpoints that have none.",
        examples=["chat_template.jinja"],
    )
    dtype: Dtype = Field(
        default="bfloat16", description="Type of weights and KV cache."
    )
    quantization: Quantization = Field(
        default="none",
        description="Weight quantization; the reference backend has none.",
    )
    tensor_parallel: int = Field(
        default=1, ge=1, le=1024, description="GPUs that share the target model."
    )


class Limits(Section):
    """What the artifact is sized for."""

    max_batch_size: int = Field(
        default=8,
        ge=1,
        le=MAX_RUNNING_REQUESTS,
        description="Requests that run at once.",
    )
    max_input_tokens: int = Field(
        default=1024,
        ge=1,
        le=MAX_TOKENS,
        description="Longest prompt in tokens, chat template included.",
    )
    max_total_tokens: int = Field(
        default=2048,
        ge=2,
        le=MAX_TOKENS,
        description="Most tokens of prompt and output together.",
    )
    kv_cache_fraction: float = Field(
        default=0.85,
        gt=0.0,
        le=1.0,
        description="Share of the free device memory that the KV cache may take.",
    )

    @model_validator(mode="after")
    def _room_for_output(self) -> Limits:
        if self.max_input_tokens < self.max_total_tokens:
            return self
        given = "max_input_tokens" in self.model_fields_set
        raise rule_error(
            "max_input_tokens" if given else "max_total_tokens",
            f"leaves no room for output: max_input_tokens is {self.max_input_tokens}"
            f"{'' if given else ' by default'}, "
            f"max_total_tokens is {self.max_total_tokens}",
            "max_input_tokens below max_total_tokens",
            "raise max_total_tokens or lower max_input_tokens",
        )


class Sampling(Section):
    """How tokens are chosen, unless a request says otherwise."""

    temperature: float = Field(
        default=0.0, ge=0.0, le=100.0, description="0 is greedy; divides the logits."
    )
    top_k: int = Field(
        default=0,
        ge=0,
        le=MAX_TOKENS,
        description="Keep the k likeliest; 0 keeps all.",
    )
    top_p: float = Field(
        default=1.0, gt=0.0, le=1.0, description="Keep the smallest set with this mass."
    )
    seed: int = Field(
        default=0, ge=0, le=2**63 - 1, description="Seed of the first request."
    )


def _no_repeats(levels: tuple[int, ...]) -> tuple[int, ...]:
    repeated = sorted({level for level in levels if levels.count(level) > 1})
    if repeated:
        names = ", ".join(map(str, repeated))
        raise rule_error("", f"lists {names} more than once", "each level once")
    return levels


class Workload(Section):
    """The prompts and the load that the recipe is measured with."""

    prompts: str = Field(
        min_length=1,
        description="A JSONL file of prompts, relative to the recipe.",
        examples=["../workloads/chat.jsonl"],
    )
    output_tokens: int = Field(
        default=128,
        ge=1,
        le=MAX_TOKENS,
        description="Most tokens to generate for a prompt.",
    )
    concurrency: Annotated[
        tuple[Concurrency, ...],
        # not strict: YAML and JSON have lists, no tuples
        Field(min_length=1, max_length=64, strict=False),
        AfterValidator(_no_repeats),
    ] = Field(
        default=(1,),
        description="Requests kept in flight, one run each.",
        examples=[[1, 4]],
    )


class Recipe(Section):
    """One deployment of a target model with a speculation method."""

    schema_: Literal["trtspec/v1"] = Field(
        alias="schema",
        description="Version of the recipe's schema.",
        examples=[SCHEMA],
    )
    name: str = Field(
        pattern=NAME_PATTERN,
        max_length=80,
        description="Names the artifact directory: a-z, 0-9, dot, dash, underscore.",
        examples=["smollm2-135m-ngram"],
    )
    backend: Backend = Field(
        default="reference", description="What builds and runs the recipe."
    )
    target: Target = Field(
        description="The target model.",
        examples=[{"model": "demo:smollm2-135m-instruct"}],
    )
    speculation: Speculation = Field(
        description="The speculation method.",
        examples=[{"method": "ngram", "draft_length": 4}],
    )
    limits: Limits = Field(
        default=Limits(), description="What the artifact is sized for."
    )
    engine: EngineOptions | None = Field(
        default=None, description="What only backend tensorrt has; optional."
    )
    pytorch: PyTorchOptions | None = Field(
        default=None, description="What only backend pytorch has; optional."
    )
    sampling: Sampling = Field(default=Sampling(), description="Default sampling.")
    workload: Workload | None = Field(
        default=None, description="Prompts and load for bench; optional."
    )
    tuned: Tuned | None = Field(
        default=None,
        description="Where the draft length comes from; written by tune, decides "
        "nothing.",
    )
