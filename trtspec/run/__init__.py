"""Requests, completions, step records and the runner protocol of every backend."""

from trtspec.run.generate import generate
from trtspec.run.inputs import (
    Asked,
    make_requests,
    own_speculation,
    sampling_params,
)
from trtspec.run.runner import Message, Runner
from trtspec.run.types import (
    Chunk,
    Completion,
    DraftStep,
    FinishReason,
    Note,
    Request,
    SamplingParams,
    StepRecord,
    StepResult,
    TokenLogprob,
)

__all__ = [
    "Asked",
    "Chunk",
    "Completion",
    "DraftStep",
    "FinishReason",
    "Message",
    "Note",
    "Request",
    "Runner",
    "SamplingParams",
    "StepRecord",
    "StepResult",
    "TokenLogprob",
    "generate",
    "make_requests",
    "own_speculation",
    "sampling_params",
]
