"""Acceptance figures of TensorRT-LLM's backend pytorch, whichever source has them."""

from trtspec.trtllm.pytorch.metrics.acceptance import Acceptance, unavailable
from trtspec.trtllm.pytorch.metrics.choose import choose
from trtspec.trtllm.pytorch.metrics.iterations import from_iterations
from trtspec.trtllm.pytorch.metrics.prometheus import from_prometheus
from trtspec.trtllm.pytorch.metrics.request_perf import from_request_perf
from trtspec.trtllm.pytorch.metrics.responses import from_response

__all__ = [
    "Acceptance",
    "choose",
    "from_iterations",
    "from_prometheus",
    "from_request_perf",
    "from_response",
    "unavailable",
]
