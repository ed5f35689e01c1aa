"""The protocol that every drafter speaks."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol, TypeVar

from torch import Tensor

from trtspec.methods import Method
from trtspec.reference.chance import Chance
from trtspec.reference.tree import DraftTree
from trtspec.run import SamplingParams

KeptT = TypeVar("KeptT")


@dataclass(frozen=True, slots=True)
class DraftContext:
    """What a drafter may know of a running request.

    :param tokens: prompt and output so far; the last one is the pending token, which
        the target has not seen yet. The list grows, it is never cut.
    :param limit: deepest level of the tree worth proposing now; 0 means propose
        nothing.
    :param speculation: the request's own parameters of the method; None for the
        recipe's.
    """

    tokens: Sequence[int]
    limit: int
    sampling: SamplingParams
    chance: Chance
    speculation: Method | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """What the target's last forward said about one slot.

    :param states: hidden states [n, width] of the layers that the drafter ``reads``,
        of the n tokens that count from now on, oldest first. None if it reads none.
    :param best: the target's likeliest token after each token of the step: the pending
        token, then each node of the tree. Empty while a prompt is read.
    :param path: accepted nodes of the tree.
    """

    states: Tensor | None
    best: Sequence[int] = ()
    path: tuple[int, ...] = ()


class Drafter(Protocol):
    """Proposes tokens for the slots in use; slot i is the i-th context.

    A drafter may keep state per slot. What it has observed of a slot so far belongs to
    all tokens of the sequence but the last, the pending one. Requests that decode
    without speculation are not observed and are proposed for with limit 0.
    """

    @property
    def reads(self) -> tuple[int, ...]:
        """Layers of the target whose hidden states it observes; empty for none."""
        ...

    @property
    def forward_seconds(self) -> float:
        """Seconds spent inside a draft model's or head's forward since the start."""
        ...

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give one draft tree per context, no deeper than its limit."""
        ...

    def observe(self, slot: int, observation: Observation) -> None:
        """Learn from the target's forward over a part of a prompt, or a step."""
        ...

    def move(self, source: int, target: int) -> None:
        """The sequence of one slot lives in another slot from now on."""
        ...

    def release(self, slot: int) -> None:
        """The slot's sequence is finished; forget it."""
        ...


class BaseDrafter:
    """A drafter that keeps nothing and observes nothing; to be built upon."""

    reads: tuple[int, ...] = ()
    forward_seconds: float = 0.0

    def observe(self, slot: int, observation: Observation) -> None:
        """Learn nothing."""

    def move(self, source: int, target: int) -> None:
        """Nothing is kept per slot."""

    def release(self, slot: int) -> None:
        """Nothing is kept per slot."""

    @contextmanager
    def timed_forward(self) -> Iterator[None]:
        """Count the seconds of the ``with`` block as ``forward_seconds``."""
        started = time.perf_counter()
        yield
        self.forward_seconds += time.perf_counter() - started


def move_kept(kept: dict[int, KeptT], source: int, target: int) -> None:
    """Let what is kept of one slot, or that nothing is, be so of another."""
    kept.pop(target, None)
    if source in kept:
        kept[target] = kept.pop(source)
