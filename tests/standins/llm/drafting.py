"""What does a pseudo-drafter propose? Mostly what the target goes on with."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Protocol

GOOD = 70
"""Of 100 proposals so many are the target's own next token."""


class Proposer(Protocol):
    """``truth`` is what the target will say next, as many as may be drafted."""

    def propose(self, text: Sequence[int], truth: Sequence[int]) -> list[int]: ...


@dataclass(frozen=True)
class Corrupting:
    """A model that is wrong now and then, always at the same places."""

    vocabulary: int

    def propose(self, text: Sequence[int], truth: Sequence[int]) -> list[int]:
        drafted: list[int] = []
        for token in truth:
            place = ",".join(map(str, (*text[-8:], *drafted)))
            good = zlib.crc32(place.encode()) % 100 < GOOD
            drafted.append(token if good else (token + 1) % self.vocabulary)
        return drafted


@dataclass(frozen=True)
class Lookup:
    """What followed the last tokens when they occurred before; nothing if never."""

    largest: int

    def propose(self, text: Sequence[int], truth: Sequence[int]) -> list[int]:
        for size in range(min(self.largest, len(text) - 1), 0, -1):
            suffix = list(text[-size:])
            for start in range(len(text) - size):
                if list(text[start : start + size]) == suffix:
                    begin = start + size
                    return list(text[begin : begin + len(truth)])
        return []


@dataclass(frozen=True)
class Users:
    """The object that a user hands over, called as the runtime calls it."""

    drafter: Any
    resource_manager: Any = None

    def propose(self, text: Sequence[int], truth: Sequence[int]) -> list[int]:
        request = SimpleNamespace(
            get_tokens=lambda beam=None: (
                list(text) if beam is not None else [list(text)]
            ),
            py_draft_tokens=[],
            py_max_draft_len=len(truth),
            py_batch_idx=0,
            py_seq_slot=0,
            is_generation_complete=False,
        )
        batch = SimpleNamespace(generation_requests=[request], context_requests=[])
        self.drafter.prepare_draft_tokens(batch, self.resource_manager)
        return [int(token) for token in request.py_draft_tokens][: len(truth)]


def make_proposer(config: Any, vocabulary: int) -> Proposer:
    """The proposer of a speculative configuration."""
    name = type(config).__name__
    if name == "UserProvidedDecodingConfig":
        return Users(config.drafter, getattr(config, "resource_manager", None))
    if name in ("NGramDecodingConfig", "SADecodingConfig"):
        largest = config.max_matching_ngram_size
        return Lookup(64 if largest == -1 else largest or 2)
    if name == "AutoDecodingConfig":
        return Lookup(3)
    return Corrupting(vocabulary)
