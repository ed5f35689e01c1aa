"""What does the executor answer?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from packaging.version import Version

from tests.standins.executor.words import FinishReason
from trtspec.trtllm import facts


@dataclass(frozen=True)
class SpeculativeDecodingMetrics:
    acceptance_rate: float
    total_accepted_draft_tokens: int
    total_draft_tokens: int


@dataclass(frozen=True)
class TimingMetrics:
    arrival_time: timedelta
    first_scheduled_time: timedelta
    first_token_time: timedelta
    last_token_time: timedelta
    kv_cache_transfer_start: timedelta = timedelta()
    kv_cache_transfer_end: timedelta = timedelta()
    kv_cache_size: int = 0


@dataclass(frozen=True)
class KvCacheMetrics:
    num_total_allocated_blocks: int = 0
    num_new_allocated_blocks: int = 0
    num_reused_blocks: int = 0
    num_missed_blocks: int = 0
    kv_cache_hit_rate: float = 0.0


@dataclass(frozen=True)
class RequestPerfMetrics:
    timing_metrics: TimingMetrics
    speculative_decoding: SpeculativeDecodingMetrics
    kv_cache_metrics: KvCacheMetrics = KvCacheMetrics()
    first_iter: int | None = None
    last_iter: int | None = None
    iter: int | None = None


@dataclass(frozen=True)
class Result:
    """One answer; ``output_token_ids`` has one list per beam."""

    is_final: bool
    output_token_ids: list[list[int]]
    finish_reasons: list[FinishReason]
    decoding_iter: int
    avg_decoded_tokens_per_iter: float | None
    generation_logits: Any = None
    request_perf_metrics: RequestPerfMetrics | None = None
    sequence_index: int = 0
    is_sequence_final: bool = False
    cum_log_probs: Any = None
    log_probs: Any = None
    context_logits: Any = None
    spec_dec_fast_logits_info: Any = None
    encoder_output: Any = None
    context_phase_params: Any = None
    additional_outputs: list[Any] = field(default_factory=list)


class Response:
    """Either a result or an error; asking for the wrong one throws."""

    def __init__(
        self, request_id: int, outcome: Result | str, version: Version
    ) -> None:
        self.request_id = request_id
        self.client_id = None
        self._outcome = outcome
        self._version = version

    def has_error(self) -> bool:
        return isinstance(self._outcome, str)

    @property
    def error_msg(self) -> str:
        if not isinstance(self._outcome, str):
            raise RuntimeError("[TensorRT-LLM][ERROR] the response has no error")
        return self._outcome

    @property
    def result(self) -> Any:
        """What the version has of a result."""
        if isinstance(self._outcome, str):
            raise RuntimeError("[TensorRT-LLM][ERROR] the response has no result")
        metrics = _visible(self._outcome.request_perf_metrics, self._version)
        outcome = replace(self._outcome, request_perf_metrics=metrics)
        return _visible(outcome, self._version)


def _visible(value: Any, version: Version) -> Any:
    """An object with those attributes only that its class has in a version."""
    if value is None:
        return None
    names = facts.attributes(type(value).__name__, version)
    return SimpleNamespace(**{name: getattr(value, name) for name in names})
