"""One request while the embedded engine runs it, with its own stream of chance."""

from __future__ import annotations

from trtspec.reference.chance import SeededChance
from trtspec.run.running import Running as RunningRequest
from trtspec.run.text import TextStream
from trtspec.run.types import Request


class Running(RunningRequest):
    """A running request that draws from its own seed; see ``trtspec.run.running``."""

    def __init__(
        self,
        request: Request,
        stream: TextStream,
        end_tokens: frozenset[int],
        submitted_at: float,
        *,
        lossy: str = "",
        apart: bool = False,
    ) -> None:
        """Start a request.

        :param lossy: why its output need not be the target's own; empty if it is.
        :param apart: draw apart from other requests with the same seed.
        """
        super().__init__(request, stream, end_tokens, submitted_at)
        seed = request.sampling.seed
        self.chance = SeededChance(seed, request.id if apart else None)
        self.completion.lossy = lossy
