"""What the documents of all kinds of answers have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from trtspec.run import Chunk, Completion, TokenLogprob
from trtspec.run.pieces import TokenPieces
from trtspec.serve.openai.answers import FinishReason, SpeculationFigures, Usage


@dataclass(frozen=True, slots=True)
class Head:
    """What every document of one answer begins with.

    :param method: of the artifact.
    :param enabled: whether this request is drafted for.
    :param pieces: reads single tokens, for log-probabilities.
    :param token_ids: whether they are wanted.
    :param prompts: token ids of the prompts.
    """

    id: str
    created: int
    model: str
    method: str
    enabled: bool
    pieces: TokenPieces
    token_ids: bool
    prompts: Sequence[tuple[int, ...]]


@dataclass(slots=True)
class Choice:
    """All that came of one answer."""

    index: int
    prompt: int
    text: str = ""
    tokens: list[int] = field(default_factory=list)
    logprobs: list[TokenLogprob] = field(default_factory=list)
    completion: Completion | None = None
    begun: bool = False
    offset: int = 0

    def take(self, chunk: Chunk) -> None:
        """Add a chunk."""
        self.text += chunk.text
        self.tokens += chunk.tokens
        self.logprobs += chunk.logprobs
        self.completion = chunk.completion or self.completion


class Writer(Protocol):
    """Writes the documents of one kind of request."""

    def whole(self, choices: Sequence[Choice], usage: Usage) -> str:
        """Write the answer in one document."""
        ...

    def piece(
        self, choice: Choice, chunk: Chunk, usage: Usage | None = None
    ) -> str | None:
        """Write what a chunk brought; None if it brought nothing to tell.

        :param usage: token counts until then, if the chunk is to have them.
        """
        ...

    def last(self, usage: Usage) -> str:
        """Write the chunk that has the token counts only."""
        ...


def usage_of(head: Head, choices: Sequence[Choice]) -> Usage:
    """Count tokens; a prompt counts once, however many answers it has."""
    read = sum(map(len, head.prompts))
    written = sum(len(choice.tokens) for choice in choices)
    return Usage(
        prompt_tokens=read, completion_tokens=written, total_tokens=read + written
    )


def figures(head: Head, done: Completion) -> SpeculationFigures:
    """Say what speculation did for one answer."""
    return SpeculationFigures(
        method=head.method,
        enabled=head.enabled and head.method != "none",
        steps=done.steps,
        drafted=done.drafted,
        accepted=done.accepted,
        acceptance_rate=done.acceptance_rate,
        acceptance_length=done.acceptance_length,
        lossy=done.lossy,
    )


def finish_of(done: Completion | None) -> FinishReason | None:
    """Say how an answer ended; None if it has not."""
    if done is None:
        return None
    assert done.finish_reason != "cancelled", "it was told as an error"
    return done.finish_reason


def has_news(chunk: Chunk, head: Head) -> bool:
    """Whether a chunk has anything that its reader asked for."""
    shown = chunk.logprobs or (head.token_ids and chunk.tokens)
    return bool(chunk.text or chunk.completion or shown)
