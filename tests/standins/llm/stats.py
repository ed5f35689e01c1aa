"""What does a version report of its iterations and its requests?"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from packaging.version import Version

from tests.standins.llm.controls import is_told

KEPT = 1000
"""Records that wait to be read."""


@dataclass
class Iteration:
    """What one iteration really did; also the ground truth of the tests.

    :ivar batch: requests in it, those that read their prompt included.
    :ivar requests: for each decoding request: id, drafted, accepted, emitted.
    """

    number: int
    batch: int
    draft_length: int
    joined: list[int]
    requests: list[dict[str, int]] = field(default_factory=list)
    seconds: float = 0.0
    draft_seconds: float = 0.0

    def total(self, key: str) -> int:
        return sum(request[key] for request in self.requests)

    @property
    def drafting(self) -> int:
        """Requests with a draft."""
        return sum(request["drafted"] > 0 for request in self.requests)


def iteration_record(it: Iteration, config: Any, version: Version) -> dict[str, Any]:
    """The record as ``/metrics`` and ``get_stats`` give it."""
    emitted = it.total("emitted") + len(it.joined)
    return {
        "iter": it.number,
        "iterLatencyMS": it.seconds * 1000,
        "gpuMemUsage": 0,
        "cpuMemUsage": 0,
        "numActiveRequests": it.batch,
        "numQueuedRequests": 0,
        "maxNumActiveRequests": it.batch,
        "inflightBatchingStats": {
            "numScheduledRequests": it.batch,
            "numContextRequests": len(it.joined),
            "numGenRequests": len(it.requests),
            "avgNumDecodedTokensPerIter": emitted / max(it.batch, 1),
        },
        "kvCacheStats": {"tokensPerBlock": 32, "reusedBlocks": 0, "missedBlocks": 0},
        "specDecodingStats": _speculation(it, config, version),
    }


def _speculation(it: Iteration, config: Any, version: Version) -> dict[str, Any] | None:
    """None without speculation, and where the version does not fill it."""
    if config is None or not is_told("specDecodingStats", config, version):
        return None
    requests, accepted = it.drafting, it.total("accepted")
    length = (accepted + requests) / requests if requests else 1.0
    return {
        "numDraftTokens": it.total("drafted"),
        "numAcceptedTokens": accepted,
        "numRequestsWithDraftTokens": requests,
        "acceptanceLength": length,
        "iterLatencyMS": it.draft_seconds * 1000,
        "draftOverhead": it.draft_seconds / it.seconds if it.seconds else 0.0,
    }


def request_metrics(
    version: Version, args: Any, counts: dict[str, int], times: dict[str, float]
) -> Any:
    """``request_perf_metrics`` of a finished request."""
    sampler = getattr(args, "sampler_type", None) == "TRTLLMSampler"
    older = bool(getattr(args, "enable_trtllm_sampler", False))
    config = args.speculative_config
    told = config is not None and is_told("speculative_decoding", config, version)
    filled = told or sampler or older
    drafted = counts["drafted"] if filled else 0
    accepted = counts["accepted"] if filled else 0
    return SimpleNamespace(
        first_iter=counts["first"],
        last_iter=counts["last"],
        iter=None,
        timing_metrics=SimpleNamespace(
            **{name: timedelta(seconds=at) for name, at in times.items()},
            kv_cache_size=0,
        ),
        kv_cache_metrics=SimpleNamespace(
            num_total_allocated_blocks=1,
            num_new_allocated_blocks=1,
            num_reused_blocks=0,
            num_missed_blocks=1,
        ),
        speculative_decoding=SimpleNamespace(
            acceptance_rate=accepted / drafted if drafted else 0.0,
            total_accepted_draft_tokens=accepted,
            total_draft_tokens=drafted,
        ),
    )
