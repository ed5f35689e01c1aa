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
    ) -> None:
        super().__init__(request, stream, end_tokens, submitted_at)
        self.chance = SeededChance(request.sampling.seed)
