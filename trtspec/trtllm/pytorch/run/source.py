"""Where tokens come from: an LLM in this process or a server, by one protocol."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from trtspec.run.types import Request
from trtspec.trtllm.pytorch.metrics import Acceptance


@dataclass(frozen=True, slots=True)
class Delta:
    """What one answer brought of a request.

    :param tokens: newly generated token ids; several in one answer are usual.
    :param time: ``time.perf_counter`` seconds at which they were there.
    :param finish: why TensorRT-LLM ended the request: stop, length, timeout,
        cancelled; empty as long as it goes on.
    :param stop_token: the token id that it stopped at and left out; None if it tells
        of none.
    :param per_iteration: its ``avg_decoded_tokens_per_iter`` so far; None if the
        release does not tell.
    :param counted: its drafts so far, by counters of its own; None if it has none.
    """

    tokens: tuple[int, ...]
    time: float
    finish: str = ""
    stop_token: int | None = None
    per_iteration: float | None = None
    counted: Acceptance | None = None


class Source(Protocol):
    """Generates for many requests at once, on one asyncio loop."""

    @property
    def name(self) -> str:
        """What it is called in messages."""
        ...

    def stream(self, request: Request) -> AsyncGenerator[Delta, None]:
        """Generate for a request; closing the iterator early ends it on the GPU too.

        :raises RunError: if it is refused, or the source fails.
        """
        ...

    def acceptance(self, *, interval: int, attention_dp: bool) -> Acceptance:
        """Read what TensorRT-LLM itself counted of drafts, over all requests so far.

        :param interval: iterations per record; see ``from_iterations``.
        :param attention_dp: whether ranks attend for requests of their own.
        """
        ...

    async def close(self) -> None:
        """Free what the source holds."""
        ...

    def conditions(self) -> dict[str, object]:
        """What of it decides the timings."""
        ...
