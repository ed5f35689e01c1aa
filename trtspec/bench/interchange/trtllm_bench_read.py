"""What ``trtllm-bench --report_json`` says.

Source: ``ReportUtility.get_statistics_dict`` in tensorrt_llm/bench/dataclasses/
reporting.py. ``decoding_stats`` holds ``acceptance_percentiles`` (tokens per decoding
iteration) in early releases, and from the 1.1 line on percentiles of drafted tokens,
accepted tokens, rate and length. ``streaming_metrics`` is there for streaming runs
only, ``machine`` in later releases, ``energy`` in release candidates of 1.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from pydantic import JsonValue

from trtspec.bench.interchange.foreign import ForeignMetric, ForeignResult

TOOL: Final = "trtllm-bench"

_SECTIONS = ("engine", "world_info", "request_info", "performance")

_SINGLE: Final = {
    "performance": {
        "request_throughput_req_s": "requests/s",
        "system_output_throughput_tok_s": "tokens/s",
        "system_total_throughput_tok_s": "tokens/s",
        "output_throughput_per_user_tok_s": "tokens/s/user",
        "output_throughput_per_gpu_tok_s": "tokens/s/GPU",
        "total_latency_ms": "ms",
    },
    "streaming_metrics": {"token_output_speed_tok_s": "tokens/s/user"},
    "energy": {
        "total_energy_j": "J",
        "output_tps_per_w": "tokens/s/W",
        "average_gpu_power": "W",
    },
}
"""Values of the whole run, by section."""

_PERCENTILES: Final = {
    "performance": {"request_latency_percentiles_ms": "ms"},
    "streaming_metrics": {
        "ttft_percentiles": "ms",
        "tpot_percentiles": "ms",
        "gen_tps_percentiles": "tokens/s/user",
    },
}
"""Percentiles over requests, by section."""

SCHEDULE_BLIND: Final = (
    "acceptance: trtllm-bench does not count draft tokens, it multiplies max_draft_len "
    "by the decoding iterations; where a schedule, max_concurrency or the gate cuts "
    "drafts short, its rate is too low, and not comparable with one over what was "
    "really drafted"
)
PER_ITERATION: Final = (
    "acceptance: acceptance_percentiles are tokens per decoding iteration, a length "
    "and no rate"
)
ORDER_STATISTICS: Final = (
    "percentiles are single requests (the value at index n * rank), not interpolated"
)
ONE_RUN: Final = "one arm and one run: nothing here says what speculation brought"


def is_report(found: Mapping[str, Any]) -> bool:
    """Whether a JSON object is such a report."""
    return all(isinstance(found.get(section), dict) for section in _SECTIONS) and (
        "request_throughput_req_s" in found["performance"]
    )


def from_report(found: Mapping[str, Any], file: str) -> ForeignResult:
    """Read a report of any version; what a version does not have is left out."""
    engine = found["engine"]
    version = engine.get("version")
    decoding = found.get("decoding_stats")
    decoding = decoding if isinstance(decoding, dict) else None
    return ForeignResult(
        tool=TOOL,
        tool_version=str(version) if version else None,
        file=file,
        requests=_integer(found["request_info"].get("num_requests")),
        metrics=tuple(_metrics(found)),
        acceptance=decoding,
        conditions=_conditions(found),
        caveats=(*_caveats(decoding), ORDER_STATISTICS, ONE_RUN),
    )


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _metrics(found: Mapping[str, Any]) -> Iterator[ForeignMetric]:
    for section, units in _SINGLE.items():
        told = _section(found, section)
        for name, unit in units.items():
            if (value := _number(told.get(name))) is not None:
                yield ForeignMetric(name=name, unit=unit, value=value)
    for section, units in _PERCENTILES.items():
        told = _section(found, section)
        for name, unit in units.items():
            if isinstance(told.get(name), dict):
                yield _percentiles(name, unit, told[name])


def _section(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = found.get(name)
    return section if isinstance(section, dict) else {}


def _percentiles(name: str, unit: str, told: Mapping[str, Any]) -> ForeignMetric:
    return ForeignMetric(
        name=name,
        unit=unit,
        mean=_number(told.get("average")),
        p50=_number(told.get("p50")),
        p95=_number(told.get("p95")),
        p99=_number(told.get("p99")),
    )


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # JSON has whole numbers of any length
        return None
    return number if number - number == 0 else None  # neither nan nor infinite


def _caveats(decoding: Mapping[str, JsonValue] | None) -> Iterable[str]:
    if not decoding:
        return
    if decoding.get("draft_acceptance_rate_percentiles"):
        yield SCHEDULE_BLIND
    if "acceptance_percentiles" in decoding:
        yield PER_ITERATION


def _conditions(found: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Keep the sections on engine, machine, world, load and data set as they are."""
    sections = ("engine", "machine", "world_info", "request_info", "dataset")
    return {name: found[name] for name in sections if isinstance(found.get(name), dict)}
