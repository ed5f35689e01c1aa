"""What a recipe may say to TensorRT-LLM's backend pytorch alone."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from trtspec.methods import MAX_RUNNING_REQUESTS
from trtspec.recipe.section import MAX_TOKENS, Section

GuidedDecoding = Literal["none", "xgrammar", "llguidance"]
AttentionBackend = Literal["TRTLLM", "FLASHINFER", "VANILLA"]
GraphBatch = Annotated[int, Field(ge=1, le=MAX_RUNNING_REQUESTS, strict=True)]


class AcceptanceGate(Section):
    """When TensorRT-LLM is to give up speculation, until it is restarted."""

    window: int = Field(
        ge=1,
        le=2**31 - 1,
        description="How many of the release's own samples are averaged: finished "
        "requests on 1.2, iterations on the newest releases.",
    )
    min_acceptance_rate: float = Field(
        gt=0.0,
        lt=1.0,
        description="Accepted / drafted tokens below which speculation is switched "
        "off; translated into the release's unit.",
    )


class PyTorchOptions(Section):
    """How TensorRT-LLM's backend pytorch serves; the other backends have none of it."""

    max_num_tokens: int | None = Field(
        default=None,
        ge=1,
        le=MAX_TOKENS,
        description="Most tokens in one forward, over all requests; derived from the "
        "limits if unset.",
    )
    kv_cache: Literal["auto", "fp8", "nvfp4"] = Field(
        default="auto", description="Type of the KV cache; auto is the checkpoint's."
    )
    block_reuse: bool = Field(
        default=True, description="Find prompts that ran before again in the KV cache."
    )
    chunked_prefill: bool = Field(
        default=False, description="Split long prompts over several forwards."
    )
    cuda_graphs: bool = Field(
        default=True, description="Capture CUDA graphs of decoding."
    )
    cuda_graph_batch_sizes: (
        Annotated[
            tuple[GraphBatch, ...],
            # not strict: YAML and JSON have lists, no tuples
            Field(min_length=1, max_length=256, strict=False),
        ]
        | None
    ) = Field(
        default=None,
        examples=[[1, 2, 4, 8]],
        description="Batch sizes to capture; those up to limits.max_batch_size that "
        "TensorRT-LLM generates if unset.",
    )
    overlap_scheduler: bool = Field(
        default=True,
        description="Prepare the next step while one runs; methods that cannot have it "
        "go without.",
    )
    expert_parallel: int | None = Field(
        default=None, ge=1, le=1024, description="GPUs that share the experts of a MoE."
    )
    attention_dp: bool = Field(
        default=False,
        description="Attention data parallelism: each GPU attends for requests of its "
        "own.",
    )
    gpus_per_node: int | None = Field(
        default=None,
        ge=1,
        le=64,
        description="GPUs of one node; more than that are spread over nodes.",
    )
    guided_decoding: GuidedDecoding = Field(
        default="none", description="What enforces grammars and JSON schemas."
    )
    attention_backend: AttentionBackend = Field(
        default="TRTLLM", description="Attention kernels."
    )
    moe_backend: str | None = Field(
        default=None,
        min_length=1,
        description="Kernels of the experts; TensorRT-LLM's own choice if unset.",
    )
    penalties: bool = Field(
        default=False,
        description="Honour repetition, presence and frequency penalties under "
        "speculation, on releases that can.",
    )
    acceptance_gate: AcceptanceGate | None = Field(
        default=None,
        description="Give up speculation when too little is accepted; never if unset.",
    )
    calibration_prompts: str | None = Field(
        default=None,
        min_length=1,
        description="JSONL file of prompts that quantization is calibrated with, "
        "relative to the recipe; the workload's if unset.",
    )
    calibration_samples: int = Field(
        default=512,
        ge=1,
        le=MAX_TOKENS,
        description="Prompts of it that are used.",
    )
    llm_args: dict[str, Any] = Field(
        default={},
        description="Further keys of the LLM API's YAML, such as {stream_interval: 2}; "
        "checked against the version's own list.",
        examples=[{"stream_interval": 2}],
    )
