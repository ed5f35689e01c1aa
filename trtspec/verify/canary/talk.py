"""How a canary talks to an engine: streamed and not, with stop strings, with counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Ask:
    """One greedy request.

    :param id: unique within a call.
    :param prompt: token ids, or text.
    :param messages: a conversation in place of the prompt.
    :param stop: strings that end the output; the text is cut before them.
    :param stream: whether the answer is to come piece by piece.
    """

    id: str
    prompt: tuple[int, ...] | str
    max_tokens: int
    messages: tuple[Mapping[str, str], ...] = field(default=(), hash=False)
    stop: tuple[str, ...] = ()
    stream: bool = True


@dataclass(frozen=True, slots=True)
class Heard:
    """What came back.

    :param pieces: text as it came; a single one if it was not streamed.
    :param finish: why it ended, such as ``stop`` or ``length``; empty if not said.
    :param tokens: ids, or None where the engine gives text only.
    :param prompt_tokens: as the engine counts them; None if it does not say.
    :param completion_tokens: the same of the output.
    :param total_tokens: the same of both.
    """

    id: str
    pieces: tuple[str, ...]
    finish: str = ""
    tokens: tuple[int, ...] | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None

    @property
    def text(self) -> str:
        """The pieces joined."""
        return "".join(self.pieces)


class Talker(Protocol):
    """Says things to one engine, which drafts as it was built to."""

    def say(self, asks: Sequence[Ask], concurrency: int) -> dict[str, Heard]:
        """Give all answers, at most so many requests at once; by id.

        :raises RunError: if one of them fails.
        """
        ...
