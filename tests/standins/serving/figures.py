"""What do the server's metric endpoints say?"""

from __future__ import annotations

from typing import Any

from tests.standins.llm.controls import is_told

COUNTER = "trtllm_spec_decode_num_draft_tokens_total"
PREFIX = "trtllm_"
LABELS = '{model_name="undefined",engine_type="undefined"}'


def prometheus(llm: Any, finished: int) -> str:
    """The text of ``/prometheus/metrics``; speculation only where the family has it."""
    loop = llm._loop
    lines = _metric("request_success_total", "counter", finished)
    config = llm.args.speculative_config
    if is_told(COUNTER, config, llm.version):
        average = loop.emitted / max(loop.number, 1)
        lines += _metric("avg_decoded_tokens_per_iter", "gauge", average)
        if config is not None:
            lines += _speculation(loop.totals)
    return "\n".join(lines) + "\n"


def _speculation(totals: dict[str, int]) -> list[str]:
    drafting, accepted = totals["drafting"], totals["accepted"]
    length = (accepted + drafting) / drafting if drafting else 0.0
    name = "spec_decode_num_{}_tokens_total"
    return [
        *_metric(name.format("draft"), "counter", totals["drafted"]),
        *_metric(name.format("accepted"), "counter", accepted),
        *_metric("spec_decode_acceptance_length", "gauge", length),
    ]


def _metric(name: str, kind: str, value: float) -> list[str]:
    full = PREFIX + name
    return [
        f"# HELP {full} {name.replace('_', ' ')}",
        f"# TYPE {full} {kind}",
        f"{full}{LABELS} {float(value)}",
    ]


def request_record(result: Any) -> dict[str, Any]:
    """One entry of ``/perf_metrics``."""
    metrics = result.outputs[0].request_perf_metrics
    timing = vars(metrics.timing_metrics)
    seconds = {
        name: value.total_seconds()
        for name, value in timing.items()
        if name.endswith("_time")
    }
    record = {
        "first_iter": metrics.first_iter,
        "last_iter": metrics.last_iter,
        "timing_metrics": seconds,
        "kv_cache_metrics": vars(metrics.kv_cache_metrics),
    }
    if metrics.speculative_decoding.total_draft_tokens > 0:
        record["speculative_decoding"] = vars(metrics.speculative_decoding)
    return {"request_id": result.request_id, "perf_metrics": record}
