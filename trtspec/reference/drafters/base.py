"""The protocol that every drafter speaks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from trtspec.methods import Method
from trtspec.reference.chance import Chance
from trtspec.reference.tree import DraftTree
from trtspec.run import SamplingParams


@dataclass(frozen=True, slots=True)
class DraftContext:
    """What a drafter may know of a running request.

    :param tokens: prompt and output so far; the last one is the pending token, which
        the target has not seen yet. The list grows, it is never cut.
    :param limit: most tokens to propose now; 0 means propose nothing.
    :param speculation: the request's own parameters of the method; None for the
        recipe's.
    """

    tokens: Sequence[int]
    limit: int
    sampling: SamplingParams
    chance: Chance
    speculation: Method | None = None


class Drafter(Protocol):
    """Proposes tokens for the slots in use; slot i is the i-th context.

    A drafter may keep state per slot. It finds out by itself what of its state still
    agrees with a slot's tokens; the engine tells it only when slots change hands.
    """

    @property
    def forward_seconds(self) -> float:
        """Seconds spent inside a draft model's forward since the start."""
        ...

    def propose(self, contexts: Sequence[DraftContext]) -> list[DraftTree]:
        """Give one draft tree per context, no deeper than its limit."""
        ...

    def move(self, source: int, target: int) -> None:
        """The sequence of one slot lives in another slot from now on."""
        ...

    def release(self, slot: int) -> None:
        """The slot's sequence is finished; forget it."""
        ...
