"""How hidden states get from the target, or a head, into a head's slots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from trtspec.reference.slots import Row, SlotModel

_CHUNK = 512  # entries of a row per forward while a head reads a prompt


class UnreadStates:
    """States that wait, slot by slot, until a head reads them."""

    def __init__(self, slots: int) -> None:
        self._parts: list[list[Tensor]] = [[] for _ in range(slots)]

    def add(self, slot: int, states: Tensor | None) -> None:
        """Append states [n, width], without the rest of the forward they are of."""
        if states is not None and len(states):
            self._parts[slot].append(states.clone())

    def take(self, slot: int) -> Tensor | None:
        """Give all that wait, oldest first, [n, width]; None if nothing does."""
        parts, self._parts[slot] = self._parts[slot], []
        return torch.cat(parts) if parts else None

    def move(self, source: int, target: int) -> None:
        """Hand a slot's states to another slot."""
        self._parts[target], self._parts[source] = self._parts[source], []

    def clear(self, slot: int) -> None:
        """Drop a slot's states."""
        self._parts[slot] = []


class Entry(NamedTuple):
    """What a head is to read for one slot, n entries; none at all by default.

    :param tokens: ids [n].
    :param states: what goes beside them, [n, width].
    """

    tokens: Sequence[int] = ()
    states: Tensor | None = None


def read(
    head: SlotModel, entries: Sequence[Entry]
) -> tuple[Tensor, list[Tensor | None]]:
    """Let a head read new entries of the first slots, and keep them.

    :param entries: one per slot, at least one of them not empty.
    :returns: logits after each slot's last entry [slots, vocabulary], and the head's
        states of each slot's entries [n, width], None where there were none.
    """
    given: list[list[Tensor]] = [[] for _ in entries]
    while True:
        parts = _next_parts(entries)
        rows = [Row(part.tokens, states=part.states) for part in parts]
        output = head.run(0, rows, last_only=True)
        assert output.states is not None, "a head gives its states"
        for slot, row in enumerate(rows):
            head.keep(slot, range(len(row.tokens)))
            if row.tokens:
                given[slot].append(output.states[slot, : len(row.tokens)])
        entries = [
            _behind(entry, len(part.tokens))
            for entry, part in zip(entries, parts, strict=True)
        ]
        if not any(entry.tokens for entry in entries):
            return output.logits, [torch.cat(g) if g else None for g in given]


def _next_parts(entries: Sequence[Entry]) -> list[Entry]:
    """Give each slot's next entries, so that all slots end in the same forward."""
    sizes = [len(entry.tokens) for entry in entries]
    if max(sizes) <= _CHUNK:
        return list(entries)
    return [
        _before(entry, min(_CHUNK, max(size - 1, 0)))
        for entry, size in zip(entries, sizes, strict=True)
    ]


def _before(entry: Entry, count: int) -> Entry:
    states = entry.states
    return Entry(entry.tokens[:count], None if states is None else states[:count])


def _behind(entry: Entry, count: int) -> Entry:
    states = entry.states
    return Entry(entry.tokens[count:], None if states is None else states[count:])
