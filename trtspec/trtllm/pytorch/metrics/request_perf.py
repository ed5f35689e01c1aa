"""What a request's own counters say: ``request_perf_metrics.speculative_decoding``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from packaging.version import Version

from trtspec.trtllm.facts.serving import metrics as metrics_of
from trtspec.trtllm.pytorch.metrics.acceptance import Acceptance, unavailable
from trtspec.trtllm.pytorch.metrics.counts import count, require_order

SOURCE = "request_perf_metrics.speculative_decoding"
_DRAFTED, _ACCEPTED = "total_draft_tokens", "total_accepted_draft_tokens"
_STEPS = "num_spec_steps"
_PLACE = "request_perf_metrics"


def from_request_perf(
    metrics: object, version: Version, *, where: str = "request"
) -> Acceptance:
    """Read one request's counters.

    :param metrics: ``output.request_perf_metrics.speculative_decoding``, the same as a
        map, or None if there is none.
    :param version: of TensorRT-LLM.
    :param where: the request, for messages.
    :raises RunError: if the counters make no sense.
    """
    if metrics is None:
        return unavailable(SOURCE, "the request has none; it needs return_perf_metrics")
    values = _as_map(metrics)
    drafted = count(values, _DRAFTED, where)
    accepted = count(values, _ACCEPTED, where)
    steps = count(values, _STEPS, where)
    require_order(where, drafted, accepted, steps)
    if not drafted:
        return unavailable(SOURCE, _why_zero(version))
    if accepted is None:
        return unavailable(SOURCE, f"it has no {_ACCEPTED}")
    return Acceptance(drafted=drafted, accepted=accepted, steps=steps, source=SOURCE)


def _as_map(metrics: object) -> Mapping[str, Any]:
    if isinstance(metrics, Mapping):
        return metrics
    keys = (_DRAFTED, _ACCEPTED, _STEPS)
    return {key: getattr(metrics, key, None) for key in keys}


def _why_zero(version: Version) -> str:
    told = (m for m in metrics_of(version, "one-model") if m.where == _PLACE)
    if any(metric.fate == "zero" for metric in told):
        return f"TensorRT-LLM {version} leaves it at 0 with backend pytorch"
    return "it is 0: nothing was drafted, or the release does not fill it"
