"""Whether weights and KV cache of target and drafter fit on a GPU, and how much."""

from __future__ import annotations

from dataclasses import dataclass

from trtspec.check.memory.cache import Cache

NO_CACHE = Cache()


@dataclass(frozen=True, slots=True)
class Part:
    """What one model has on a GPU.

    :param role: ``target``, ``draft model``, ``drafter`` or ``next-token heads``.
    :param weights: bytes on the GPU that has most of them.
    :param how: how they were counted: a type, "as stored", "estimated".
    :param cache_type: type of the KV cache; empty if it has none.
    """

    role: str
    weights: int
    cache: Cache = NO_CACHE
    how: str = ""
    cache_type: str = ""


@dataclass(frozen=True, slots=True)
class MemoryPlan:
    """Memory of the fullest GPU, in bytes.

    :param gpu: name of its kind.
    :param gpus: how many share the target.
    :param memory: of one GPU.
    :param reserve: what is kept for activations, graphs and the driver.
    :param fraction: share of the rest that the KV cache may take.
    :param request_tokens: of the longest request, draft included.
    :param max_batch_size: requests that are to run at once.
    :param step_tokens: that a verification step takes per request.
    :param token_budget: most tokens of one forward; None if nothing bounds them.
    :param most_tokens: cap on the tokens of the cache; None for none.
    :param replicas: caches beside one another, each for requests of its own.
    :param draft_share: share of the pool that is the draft model's alone; None where
        all caches share one, or there is only one.
    :param assumptions: what is not known, and taken to be so.
    """

    gpu: str
    gpus: int
    memory: int
    parts: tuple[Part, ...]
    reserve: int
    fraction: float
    request_tokens: int
    max_batch_size: int = 1
    step_tokens: int = 1
    token_budget: int | None = None
    most_tokens: int | None = None
    replicas: int = 1
    draft_share: float | None = None
    assumptions: tuple[str, ...] = ()

    @property
    def weights(self) -> int:
        """Bytes of all weights."""
        return sum(part.weights for part in self.parts)

    @property
    def free(self) -> int:
        """Bytes that weights and reserve leave; below 0 if they do not fit."""
        return self.memory - self.weights - self.reserve

    @property
    def weights_fit(self) -> bool:
        """Whether there is anything left for a cache."""
        return self.free > 0

    @property
    def pool(self) -> int:
        """Bytes that the KV caches of all models share."""
        return int(max(self.free, 0) * self.fraction)

    @property
    def bytes_per_token(self) -> int:
        """Bytes of one token in the caches of all models."""
        return sum(part.cache.per_token for part in self.parts)

    @property
    def bytes_per_request(self) -> int:
        """Bytes of the longest request in the caches of all models."""
        return sum(part.cache.of_request(self.request_tokens) for part in self.parts)

    @property
    def tokens(self) -> int:
        """Tokens that fit, where no layer forgets any."""
        fitting = min(
            (
                int(pool // each)
                for pool, caches in self._pools
                if (each := sum(cache.per_token for cache in caches))
            ),
            default=0,
        )
        if self.most_tokens is not None:
            fitting = min(fitting, self.most_tokens)
        return fitting * self.replicas

    @property
    def requests(self) -> float:
        """Requests of full length that fit."""
        length = self.request_tokens
        fitting = min(
            (
                pool / each
                for pool, caches in self._pools
                if (each := sum(cache.of_request(length) for cache in caches))
            ),
            default=0.0,
        )
        if self.most_tokens is not None:
            fitting = min(fitting, self.most_tokens / length)
        return fitting * self.replicas

    @property
    def _pools(self) -> tuple[tuple[float, tuple[Cache, ...]], ...]:
        """Bytes, and the caches that share them."""
        target, *others = (part.cache for part in self.parts)
        if self.draft_share is None or not others:
            return ((self.pool, (target, *others)),)
        drafts = self.pool * self.draft_share
        return ((self.pool - drafts, (target,)), (drafts, tuple(others)))

    @property
    def effective_batch(self) -> int:
        """Requests that run at once at full length, within the token budget too."""
        batch = min(self.max_batch_size, int(self.requests))
        if self.token_budget is None:
            return batch
        return min(batch, self.token_budget // self.step_tokens * self.replicas)

    @property
    def is_useful(self) -> bool:
        """Whether two requests fit, if more than one is wanted."""
        return self.requests >= min(2, self.max_batch_size)
