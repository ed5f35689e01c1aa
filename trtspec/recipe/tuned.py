"""Where a tuned draft length comes from; decides nothing."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trtspec.methods import MAX_DRAFT_LENGTH, MAX_RUNNING_REQUESTS
from trtspec.recipe.section import MAX_TOKENS, Section

Gain = Annotated[float, Field(ge=0.0, le=1e6)]


class TunedLoad(Section):
    """One row of the table that the draft length was chosen from."""

    concurrency: int = Field(
        ge=1, le=MAX_RUNNING_REQUESTS, description="Requests in flight."
    )
    draft_length: int = Field(
        ge=0,
        le=MAX_DRAFT_LENGTH,
        description="Chosen for as many running requests.",
    )
    predicted: Gain = Field(description="Throughput / that of plain decoding.")
    measured: Gain | None = Field(
        default=None, description="The same, measured; unset if it was not."
    )
    verdict: Literal["faster", "slower", "no difference", "no claim"] = Field(
        description="What the measurement, else the prediction, allows to say."
    )


class Tuned(Section):
    """What `trtspec tune` writes beside the draft length that it chose."""

    by: str = Field(description="Version of trtspec.", examples=["trtspec 0.1.0"])
    date: str = Field(description="Of the tuning, ISO 8601.", examples=["2026-01-31"])
    fingerprint: str = Field(description="Of the artifact that was tuned.")
    prompts_sha256: str = Field(description="Of the prompts as token ids.")
    prompts: int = Field(ge=1, le=MAX_TOKENS, description="How many they were.")
    output_tokens: int = Field(
        ge=1, le=MAX_TOKENS, description="Most tokens per answer."
    )
    costs: Literal["measured", "priced", "roofline"] = Field(
        description="Where the times of steps come from."
    )
    hardware: str = Field(description="What they hold for.", examples=["cpu, AVX512"])
    loads: Annotated[
        tuple[TunedLoad, ...],
        Field(min_length=1, strict=False),  # YAML and JSON have lists, no tuples
    ] = Field(
        description="The table.",
        examples=[
            [
                {
                    "concurrency": 1,
                    "draft_length": 4,
                    "predicted": 1.31,
                    "measured": 1.28,
                    "verdict": "faster",
                }
            ]
        ],
    )
