"""Which metrics a benchmark reports; one module per metric."""

from trtspec.bench.metrics.acceptance_length import AcceptanceLength
from trtspec.bench.metrics.acceptance_rate import AcceptanceRate
from trtspec.bench.metrics.base import (
    ArmData,
    ArmMetric,
    Metric,
    Percentiles,
    Quantile,
    RequestMetric,
)
from trtspec.bench.metrics.chunk_gap import ChunkGap
from trtspec.bench.metrics.drafting_share import DraftingShare
from trtspec.bench.metrics.e2e import E2E
from trtspec.bench.metrics.goodput import Goodput
from trtspec.bench.metrics.lateness import Lateness
from trtspec.bench.metrics.output_throughput import OutputThroughput
from trtspec.bench.metrics.request_throughput import RequestThroughput
from trtspec.bench.metrics.resources import (
    CpuPerToken,
    EnergyPerToken,
    GpuMemory,
    Memory,
)
from trtspec.bench.metrics.tokens_per_step import TokensPerStep
from trtspec.bench.metrics.total_throughput import TotalThroughput
from trtspec.bench.metrics.tpot import TPOT
from trtspec.bench.metrics.ttft import TTFT
from trtspec.bench.metrics.verification_share import VerificationShare

METRICS: tuple[RequestMetric | ArmMetric, ...] = (
    OutputThroughput(),
    TotalThroughput(),
    RequestThroughput(),
    Goodput(),
    TTFT(),
    TPOT(),
    E2E(),
    ChunkGap(),
    Lateness(),
    AcceptanceRate(),
    AcceptanceLength(),
    TokensPerStep(),
    DraftingShare(),
    VerificationShare(),
    CpuPerToken(),
    Memory(),
    GpuMemory(),
    EnergyPerToken(),
)
"""In the order of the table."""

LATENCIES: tuple[RequestMetric, ...] = (TTFT(), TPOT(), E2E())
"""Those that arms are compared by."""

__all__ = [
    "E2E",
    "LATENCIES",
    "METRICS",
    "TPOT",
    "TTFT",
    "AcceptanceLength",
    "AcceptanceRate",
    "ArmData",
    "ArmMetric",
    "ChunkGap",
    "CpuPerToken",
    "DraftingShare",
    "EnergyPerToken",
    "Goodput",
    "GpuMemory",
    "Lateness",
    "Memory",
    "Metric",
    "OutputThroughput",
    "Percentiles",
    "Quantile",
    "RequestMetric",
    "RequestThroughput",
    "TokensPerStep",
    "TotalThroughput",
    "VerificationShare",
]
