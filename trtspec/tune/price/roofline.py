"""What a step costs at least: bytes over bandwidth, operations over peak rate.

No kernel is as fast as its data sheet. Of a dense model's plain step a roofline gives
39 to 76 % of what tables of measured kernels say, as those have fixed costs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trtspec.check.memory.cache import VALUE_BITS, model_cache
from trtspec.check.memory.weights import WEIGHT_BITS, model_weights
from trtspec.gpu_kinds import GpuKind
from trtspec.models.info import DTYPE_BYTES
from trtspec.tune.price.parts import (
    Forward,
    Head,
    Matrix,
    NoPriceError,
    Placed,
    experts,
)

_RATES = {
    "bfloat16": "bfloat16",
    "float16": "bfloat16",
    "none": "bfloat16",
    "fp8": "fp8",
    "nvfp4": "nvfp4",
    "int8_sq": "int8",
    # weights are widened first
    "int4_awq": "bfloat16",
    "int8_wo": "bfloat16",
}
"""Type or quantization of weights → type that the tensor cores multiply."""

_MULTIPLY_ADD = 2


@dataclass(frozen=True, slots=True)
class Roofline:
    """A GPU by its data sheet."""

    kind: GpuKind

    def forward(
        self, placed: Placed, requests: int, width: int, context: int, *, once: bool
    ) -> float:
        """Give the seconds of a model's forward: its weights, then its attention."""
        tokens = requests * width
        reads = requests if once else tokens
        return self._weights(placed, tokens) + self._attention(
            placed, reads, tokens, context
        )

    def reading(self, placed: Placed, tokens: int) -> float:
        """Give the seconds per token of a prompt."""
        return self._weights(placed, tokens) / tokens

    def head(
        self, head: Head, requests: int, forwards: Sequence[Forward], context: int
    ) -> float:
        """Give the seconds of some forwards of a head."""
        return sum(self._head(head, requests, one, context) for one in forwards)

    def _head(self, head: Head, requests: int, one: Forward, context: int) -> float:
        parts = ((head.fusion, one.fused), (head.body, one.body))
        spent = sum(self._matrices(head, m, requests * n) for m, n in parts if n)
        spent += self._matrices(head, (head.output,), requests * one.output)
        if head.attention is None:
            return spent
        cached = head.attention.cached_values * VALUE_BITS[head.cache] / 8
        return spent + self._bytes(requests * context * cached / head.tensor_parallel)

    def _matrices(self, head: Head, group: tuple[Matrix, ...], tokens: int) -> float:
        values = sum(matrix.values for matrix in group) / head.tensor_parallel
        read = self._bytes(values * DTYPE_BYTES[head.dtype])
        return max(read, self._multiplied(values * tokens, head.dtype))

    def _weights(self, placed: Placed, tokens: int) -> float:
        """Seconds of all matrices; of the embedding only a row per token is read."""
        model, gpus = placed.model, placed.parallel.gpus
        if experts(model.directory):
            raise NoPriceError(
                "a mixture of experts: which weights a step reads depends on its tokens"
            )
        size = DTYPE_BYTES[placed.dtype]
        whole = model_weights(model, placed.dtype, placed.quantization)
        output = whole.output or whole.embedding
        embedding = model.vocabulary_rows * model.hidden_size
        inner = model.parameters - embedding * (1 if model.tied_embeddings else 2)
        read = self._bytes((whole.layers + output) / gpus)
        kind, bits = _multiplied_in(placed)
        if model.quantization != "none":
            inner = int(whole.layers * 8 / bits)  # packed weights are stored as fewer
        inner_time = self._multiplied(inner * tokens / gpus, kind)
        output_time = self._multiplied(output / size * tokens / gpus, placed.dtype)
        return max(read, inner_time + output_time)

    def _attention(
        self, placed: Placed, reads: int, tokens: int, context: int
    ) -> float:
        model = placed.model
        cache = model_cache(model, placed.cache, placed.parallel, keeps_windows=True)
        read = self._bytes(reads * cache.of_request(context))
        # queries by keys, and weights by values
        values = 2 * model.cached_layers * model.heads * model.head_size
        shares = placed.parallel.gpus
        multiplied = values * tokens * context / shares
        return max(read, self._multiplied(multiplied, placed.dtype))

    def _bytes(self, count: float) -> float:
        if self.kind.memory_bandwidth is None:
            raise NoPriceError(f"no data sheet of {self.kind.name} is in the table")
        return count / self.kind.memory_bandwidth

    def _multiplied(self, pairs: float, kind: str) -> float:
        rate = self.kind.dense_flops.get(_RATES.get(kind, kind))
        if rate is None:
            raise NoPriceError(
                f"the data sheet of {self.kind.name} has no rate for {kind}"
            )
        return _MULTIPLY_ADD * pairs / rate


def _multiplied_in(placed: Placed) -> tuple[str, float]:
    """Give the type of a model's matrices, and the bits of one weight."""
    stored = placed.model.published_quantization
    if placed.model.quantization != "none":
        if stored is None or stored not in WEIGHT_BITS:
            raise NoPriceError(
                f"how {placed.model.quantization} weights are multiplied is not known"
            )
        return stored, WEIGHT_BITS[stored]
    if placed.quantization != "none":
        return placed.quantization, WEIGHT_BITS[placed.quantization]
    return placed.dtype, 8.0 * DTYPE_BYTES[placed.dtype]
