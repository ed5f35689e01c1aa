"""What AIPerf's files say: the summary of a run, or its records.

Field names: see ``aiperf_facts``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import JsonValue

from trtspec.bench.interchange.aiperf_facts import HISTOGRAM, RECORD_UNITS, RUN_UNITS
from trtspec.bench.interchange.foreign import ForeignMetric, ForeignResult

TOOL = "aiperf"
FROM_SENDING = (
    "latencies count from the time of sending; ours from the time due, which is "
    "earlier where a client is late"
)
CHUNK_GAP = "inter_chunk_latency is the gap between chunks, not a time per token"

_STATS = ("mean", "p50", "p95", "p99")


def is_summary(found: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a summary of AIPerf, or of GenAI-Perf before it."""
    known = [tag for tag in (*RECORD_UNITS, *RUN_UNITS) if _is_metric(found.get(tag))]
    return len(known) >= 2


def is_record(found: object) -> bool:
    """Whether a JSON value is a record of AIPerf: metadata and metrics."""
    return (
        isinstance(found, dict)
        and isinstance(found.get("metadata"), dict)
        and isinstance(found.get("metrics"), dict)
        and "request_start_ns" in found["metadata"]
    )


def _is_metric(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("unit"), str)


def from_summary(found: Mapping[str, Any], file: str) -> ForeignResult:
    """Read ``profile_export_aiperf.json``."""
    metrics = tuple(
        _metric(name, value) for name, value in found.items() if _is_metric(value)
    )
    by_name = {metric.name: metric for metric in metrics}
    version = found.get("aiperf_version") or found.get("generated_by")
    return ForeignResult(
        tool=TOOL,
        tool_version=str(version) if version else None,
        file=file,
        requests=_count(by_name.get("request_count")),
        failed=_count(by_name.get("error_request_count")),
        metrics=metrics,
        acceptance=_acceptance(metrics, found.get(HISTOGRAM)),
        conditions=_conditions(found),
        caveats=(*_incomplete(found), *_caveats(by_name)),
    )


def _incomplete(found: Mapping[str, Any]) -> Iterable[str]:
    if found.get("is_complete") is False:
        why = found.get("incomplete_reason") or "no reason given"
        yield f"the run is incomplete: {why}"
    if found.get("was_cancelled") is True:
        yield "the run was cancelled"


def _metric(name: str, value: Mapping[str, Any]) -> ForeignMetric:
    """A metric of requests has percentiles; one of the whole run only an average."""
    average = _number(value.get("avg"))
    if value.get("p50") is None:
        return ForeignMetric(name=name, unit=value["unit"], value=average)
    return ForeignMetric(
        name=name,
        unit=value["unit"],
        mean=average,
        **{rank: _number(value.get(rank)) for rank in _STATS[1:]},
    )


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # JSON has whole numbers of any length
        return None
    return number if np.isfinite(number) else None


def _count(metric: ForeignMetric | None) -> int | None:
    if metric is None:
        return None
    told = metric.value if metric.value is not None else metric.mean
    return None if told is None else round(told)


def _acceptance(
    metrics: Sequence[ForeignMetric], histogram: object
) -> dict[str, JsonValue] | None:
    drafting = (
        "spec_decode",
        "total_spec_decode",
        "total_draft",
        "total_accepted_draft",
    )
    found: dict[str, JsonValue] = {
        m.name: m.value if m.value is not None else m.mean
        for m in metrics
        if m.name.startswith(drafting)
    }
    if isinstance(histogram, dict):
        found[HISTOGRAM] = histogram
    return found or None


def _conditions(found: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Keep what names model, endpoint and load; the whole configuration is its own."""
    config = found.get("input_config")
    config = config if isinstance(config, dict) else {}
    wanted: dict[str, JsonValue] = {
        key: found.get(key)
        for key in ("start_time", "end_time", "benchmark_id", "trtspec")
    }
    for key in ("models", "datasets", "phases", "loadgen", "random_seed"):
        wanted[key] = config.get(key)
    endpoint = config.get("endpoint")
    if isinstance(endpoint, dict):
        for key in ("type", "streaming"):
            wanted[f"endpoint.{key}"] = endpoint.get(key)
    return {key: value for key, value in wanted.items() if value is not None}


def _caveats(by_name: Mapping[str, ForeignMetric]) -> Iterable[str]:
    if {"request_latency", "time_to_first_token"} & set(by_name):
        yield FROM_SENDING
    if "inter_chunk_latency" in by_name:
        yield CHUNK_GAP


def from_records(records: Sequence[Mapping[str, Any]], file: str) -> ForeignResult:
    """Read ``profile_export.jsonl``: the requests of its profiling phases."""
    counted = [r for r in records if r["metadata"].get("benchmark_phase") != "warmup"]
    good = [r for r in counted if not r.get("error")]
    values: dict[str, list[float]] = {}
    units: dict[str, str] = {}
    for record in good:
        for name, told in record["metrics"].items():
            if _is_metric(told):
                values.setdefault(name, []).extend(_numbers(told.get("value")))
                units[name] = told["unit"]
    metrics = tuple(_over(n, units[n], found) for n, found in values.items() if found)
    return ForeignResult(
        tool=TOOL,
        tool_version=None,
        file=file,
        requests=len(good),
        failed=len(counted) - len(good),
        metrics=metrics,
        acceptance=_pooled(good),
        caveats=tuple(_caveats({metric.name: metric for metric in metrics})),
    )


def _numbers(value: object) -> list[float]:
    several = value if isinstance(value, list) else [value]
    return [number for v in several if (number := _number(v)) is not None]


def _over(name: str, unit: str, values: Sequence[float]) -> ForeignMetric:
    p50, p95, p99 = np.percentile(np.asarray(values), [50, 95, 99])
    return ForeignMetric(
        name=name,
        unit=unit,
        mean=float(np.mean(values)),
        p50=float(p50),
        p95=float(p95),
        p99=float(p99),
    )


def _pooled(records: Sequence[Mapping[str, Any]]) -> dict[str, JsonValue] | None:
    """Add the counts of all requests that drafted, and give rate and length of them."""
    told = [r.get("spec_decode_acceptance") for r in records]
    found = [one for one in told if isinstance(one, dict)]
    keys = ("num_spec_steps", "num_draft_tokens", "num_accepted_draft_tokens")
    if not found or any(not isinstance(one.get(k), int) for one in found for k in keys):
        return None
    steps, drafted, accepted = (sum(one[key] for one in found) for key in keys)
    return {
        "requests": len(found),
        "num_spec_steps": steps,
        "num_draft_tokens": drafted,
        "num_accepted_draft_tokens": accepted,
        "draft_acceptance_rate": accepted / drafted if drafted else None,
        "mean_acceptance_length": 1 + accepted / steps if steps else None,
    }
