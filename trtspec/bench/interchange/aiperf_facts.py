"""What AIPerf's result files look like, as far as we write and read them.

Source: AIPerf 0.13.0. ``aiperf/common/models/export_models.py`` (JsonExportData,
JsonMetricResult), ``record_models.py`` (MetricRecordInfo, MetricRecordMetadata,
MetricValue), ``spec_decode_models.py`` (SpecDecodeAcceptanceRecord),
``aiperf/metrics/types/*`` (tags and units), ``aiperf/config/artifacts.py`` (names of
the files), ``aiperf/metrics/metric_dicts.py`` (percentiles: linear; std: ddof 0).
"""

from __future__ import annotations

from typing import Final

VERSION: Final = "0.13.0"
"""The release whose layout is written."""

SCHEMA_VERSION: Final = "1.4"
"""JsonExportData.SCHEMA_VERSION of it."""

SUMMARY_FILE: Final = "profile_export_aiperf.json"
RECORDS_FILE: Final = "profile_export.jsonl"

PERCENTILES: Final = (1, 5, 10, 25, 50, 75, 90, 95, 99)

MS, TOKENS, RATIO, COUNT, PERCENT = "ms", "tokens", "ratio", "count", "%"

RECORD_UNITS: Final = {
    "request_latency": MS,
    "time_to_first_token": MS,
    "inter_token_latency": MS,
    "inter_chunk_latency": MS,
    "output_sequence_length": TOKENS,
    "input_sequence_length": TOKENS,
    "output_token_throughput_per_user": "tokens/sec/user",
    "spec_decode_acceptance_length": RATIO,
    "spec_decode_draft_acceptance_rate": PERCENT,
    "spec_decode_accepted_per_verified": RATIO,
    "spec_decode_steps": COUNT,
    "spec_decode_accepted_draft_tokens": TOKENS,
    "spec_decode_draft_tokens": TOKENS,
}
"""Metrics with a value per request, in the unit of display."""

RUN_UNITS: Final = {
    "request_count": "requests",
    "request_throughput": "requests/sec",
    "output_token_throughput": "tokens/sec",
    "benchmark_duration": "sec",
    "total_osl": TOKENS,
    "total_isl": TOKENS,
    "total_spec_decode_steps": COUNT,
    "total_accepted_draft_tokens": TOKENS,
    "total_draft_tokens": TOKENS,
    "spec_decode_token_weighted_acceptance_length": RATIO,
    "spec_decode_overall_draft_acceptance_rate": PERCENT,
}
"""Metrics with one value per run."""

HISTOGRAM: Final = "pooled_spec_decode_acceptance_histogram"

ACCEPTANCE_FIELDS: Final = (
    "engine",
    "mean_acceptance_length",
    "draft_acceptance_rate",
    "acceptance_histogram",
    "num_accepted_draft_tokens",
    "num_draft_tokens",
    "num_spec_steps",
    "num_spec_tokens",
    "completion_tokens",
    "per_step_accepted",
    "per_step_drafted",
)
"""SpecDecodeAcceptanceRecord: one per request that drafted."""
