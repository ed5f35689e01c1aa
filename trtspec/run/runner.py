"""The protocol that every backend speaks, so that run and bench need one code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from trtspec.run.types import Note, Request, StepResult

Message = Mapping[str, str]


class Runner(Protocol):
    """A loaded artifact that takes requests and emits tokens.

    Requests may be submitted and cancelled at any time between two calls of
    ``advance``; each ``advance`` does one engine step (or, for an engine with its own
    loop, waits for the next outputs) and returns what came of it.
    """

    @property
    def max_running(self) -> int:
        """How many requests run at once; more wait in a queue."""
        ...

    @property
    def max_input_tokens(self) -> int:
        """The longest prompt that ``submit`` takes, in tokens."""
        ...

    @property
    def max_total_tokens(self) -> int:
        """The most tokens that prompt and output of one request may have together."""
        ...

    @property
    def caches_prompts(self) -> bool:
        """Whether a prompt that ran before is found again in the KV cache.

        Its prefill then costs less than it would cost the first time.
        """
        ...

    def encode(self, prompt: str) -> tuple[int, ...]:
        """Tokenize raw text as the model's tokenizer does, special tokens added."""
        ...

    def encode_chat(self, messages: Sequence[Message]) -> tuple[int, ...]:
        """Tokenize a conversation through the model's chat template."""
        ...

    def submit(self, request: Request) -> None:
        """Queue a request.

        :raises UsageError: if the prompt is empty or longer than the limit, or a
            request of that id waits or runs.
        """
        ...

    def cancel(self, request_id: str) -> None:
        """End a request at the next step; unknown ids are ignored."""
        ...

    @property
    def busy(self) -> bool:
        """Whether any request is queued or running."""
        ...

    def advance(self) -> StepResult:
        """Do one step; returns an empty result when there is nothing to do.

        :raises RunError: if a request, or the engine, fails. All requests are gone
            then.
        """
        ...

    def conditions(self) -> dict[str, object]:
        """What decides the timings: device, dtype, threads, versions."""
        ...

    def notes(self) -> tuple[Note, ...]:
        """What the engine itself says of the work done; may be nothing."""
        ...

    def close(self) -> None:
        """Free the engine's memory."""
        ...
