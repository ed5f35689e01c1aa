"""Which enumerations and modes does the executor know?"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class ModelType(Enum):
    ENCODER_ONLY = 0
    DECODER_ONLY = 1
    ENCODER_DECODER = 2


class BatchingType(Enum):
    STATIC = 0
    INFLIGHT = 1


class CapacitySchedulerPolicy(Enum):
    MAX_UTILIZATION = 0
    GUARANTEED_NO_EVICT = 1
    STATIC_BATCH = 2


class CommunicationType(Enum):
    MPI = 0


class CommunicationMode(Enum):
    LEADER = 0
    ORCHESTRATOR = 1


class RequestType(Enum):
    REQUEST_TYPE_CONTEXT_AND_GENERATION = 0
    REQUEST_TYPE_CONTEXT_ONLY = 1
    REQUEST_TYPE_GENERATION_ONLY = 2


class FinishReason(Enum):
    NOT_FINISHED = 0
    END_ID = 1
    STOP_WORDS = 2
    LENGTH = 3
    TIMED_OUT = 4
    CANCELLED = 5


@dataclass(frozen=True)
class DecodingMode:
    """Made by its static methods, as in ``DecodingMode.Medusa()``."""

    name: str


MODES = (
    "Auto",
    "TopK",
    "TopP",
    "TopKTopP",
    "BeamSearch",
    "Medusa",
    "Lookahead",
    "ExplicitDraftTokens",
    "Eagle",
)
for _mode in MODES:
    setattr(DecodingMode, _mode, staticmethod(lambda name=_mode: DecodingMode(name)))

WORDS = {
    kind.__name__: kind
    for kind in (
        ModelType,
        BatchingType,
        CapacitySchedulerPolicy,
        CommunicationType,
        CommunicationMode,
        RequestType,
        FinishReason,
        DecodingMode,
    )
}
