"""What a client saw of a request, whichever way it was sent."""

from __future__ import annotations

from dataclasses import dataclass

from trtspec.run import DraftStep, StepRecord


@dataclass(frozen=True, slots=True)
class Outcome:
    """One answered request; times are seconds on one clock.

    :param due_at: when it was to be sent. In an open loop latencies count from here:
        a client that falls behind must not hide the wait (coordinated omission).
    :param sent_at: when it was sent.
    :param chunks: time and tokens of each; None if the server does not say how many.
    :param output_tokens: as counted by the engine or the server, never from chunks.
    :param tokens: token ids; None if the server gives text only.
    """

    request_id: str
    due_at: float
    sent_at: float
    chunks: tuple[tuple[float, int | None], ...]
    prompt_tokens: int | None
    output_tokens: int
    finish_reason: str
    text: str
    tokens: tuple[int, ...] | None = None
    steps: int | None = None
    drafted: int | None = None
    accepted: int | None = None
    draft_steps: tuple[DraftStep, ...] | None = None
    lossy: str = ""

    @property
    def ttft(self) -> float:
        """Seconds until the first token."""
        return self.chunks[0][0] - self.due_at

    @property
    def e2e(self) -> float:
        """Seconds until the last token."""
        return self.chunks[-1][0] - self.due_at

    @property
    def tpot(self) -> float | None:
        """(last - first token time) / (tokens - 1); None below 2 tokens.

        Also None if all tokens came in one chunk: then nothing says when each was made.
        """
        if self.output_tokens < 2 or len(self.chunks) < 2:
            return None
        return (self.chunks[-1][0] - self.chunks[0][0]) / (self.output_tokens - 1)


@dataclass(frozen=True, slots=True)
class Failed:
    """One request that brought no answer, and why."""

    request_id: str
    what: str


@dataclass(frozen=True, slots=True)
class Pass:
    """What one pass over the requests brought.

    :param outcomes: one per request, in the order of the requests.
    :param records: every engine step in order; None if the engine does not tell them.
    :param started_at: clock seconds just before the first request was due.
    :param ended_at: clock seconds when the last answer was there.
    """

    outcomes: tuple[Outcome | Failed, ...]
    records: tuple[StepRecord, ...] | None
    started_at: float
    ended_at: float

    @property
    def wall_seconds(self) -> float:
        """Seconds from the first request to the last answer."""
        return self.ended_at - self.started_at

    @property
    def answered(self) -> tuple[Outcome, ...]:
        """The requests that were answered."""
        return tuple(o for o in self.outcomes if isinstance(o, Outcome))

    @property
    def failed(self) -> tuple[Failed, ...]:
        """Those that were not."""
        return tuple(o for o in self.outcomes if isinstance(o, Failed))
