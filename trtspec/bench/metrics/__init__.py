"""Which metrics a benchmark reports; one module per metric."""

from trtspec.bench.metrics.acceptance_length import AcceptanceLength
from trtspec.bench.metrics.acceptance_rate import AcceptanceRate
from trtspec.bench.metrics.base import (
    ArmData,
    ArmMetric,
    Metric,
    Percentiles,
    RequestMetric,
)
from trtspec.bench.metrics.drafting_share import DraftingShare
from trtspec.bench.metrics.e2e import E2E
from trtspec.bench.metrics.output_throughput import OutputThroughput
from trtspec.bench.metrics.tpot import TPOT
from trtspec.bench.metrics.ttft import TTFT
from trtspec.bench.metrics.verification_share import VerificationShare

METRICS: tuple[RequestMetric | ArmMetric, ...] = (
    OutputThroughput(),
    TTFT(),
    TPOT(),
    E2E(),
    AcceptanceRate(),
    AcceptanceLength(),
    DraftingShare(),
    VerificationShare(),
)
"""In the order of the table."""

__all__ = [
    "E2E",
    "METRICS",
    "TPOT",
    "TTFT",
    "AcceptanceLength",
    "AcceptanceRate",
    "ArmData",
    "ArmMetric",
    "DraftingShare",
    "Metric",
    "OutputThroughput",
    "Percentiles",
    "RequestMetric",
    "VerificationShare",
]
