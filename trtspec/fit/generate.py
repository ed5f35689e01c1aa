"""How the target writes answers: many conversations at once, joining and leaving."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from trtspec.fit.answers import Answer
from trtspec.fit.conversations import Conversation
from trtspec.reference.slots import Row, SlotModel

_CHUNK = 512
_TOP_K = 50  # beyond these a small model's samples are mostly noise


@dataclass(frozen=True, slots=True)
class Lengths:
    """How much is written.

    :param prompt: longest prompt; longer ones are left out.
    :param answer: most tokens of an answer.
    :param turn: most tokens of a user turn of the target's own.
    """

    prompt: int = 1000
    answer: int = 256
    turn: int = 96

    @property
    def total(self) -> int:
        """Tokens that a slot needs."""
        return self.prompt + self.answer + self.turn + _CHUNK // 8


class Writer:
    """Writes conversations in the slots of a model."""

    def __init__(
        self,
        model: SlotModel,
        waiting: Iterator[Conversation],
        end_tokens: frozenset[int],
        lengths: Lengths,
    ) -> None:
        self._model, self._waiting, self._lengths = model, waiting, lengths
        self._end_tokens = end_tokens
        self._slots: list[Conversation | None] = [None] * len(model.lengths)
        self._finished: list[Answer] = []

    def run(self, finished: Callable[[Answer], None]) -> None:
        """Write all; tells each answer when it is whole."""
        for slot in range(len(self._slots)):
            self._begin(slot)
        while True:
            for answer in self._finished:
                finished(answer)
            self._finished.clear()
            live = [slot for slot, one in enumerate(self._slots) if one is not None]
            if not live:
                return
            self._step(live)

    def _step(self, live: Sequence[int]) -> None:
        rows = [Row([])] * (max(live) + 1)
        for slot in live:
            rows[slot] = Row(self._at(slot).tokens[-1:])
        logits = self._model.forward(0, rows, last_only=True)
        for slot in live:
            self._model.keep(slot, range(1))
        chosen = choose(logits[live], [self._at(slot) for slot in live])
        for slot, token in zip(live, chosen, strict=True):
            self._take(slot, token)

    def _take(self, slot: int, token: int) -> None:
        """Append a token, and end the turn or the answer where it ends."""
        one = self._at(slot)
        if one.writes_turn:
            ends = token in self._end_tokens or token == one.after_turn[0]
            if not ends:
                one.tokens.append(token)
            if ends or one.written >= self._lengths.turn:
                fed = len(one.tokens) - (0 if ends else 1)
                one.end_turn()
                self._take(slot, self._read(slot, one.tokens[fed:]))
            return
        one.tokens.append(token)
        if token in self._end_tokens or one.written >= self._lengths.answer:
            self._finished.append(one.answer())
            self._begin(slot)

    def _begin(self, slot: int) -> None:
        """Give a slot to the next conversation, if there is one."""
        self._slots[slot] = None
        self._model.clear(slot)
        for one in self._waiting:
            if len(one.tokens) <= self._lengths.prompt:
                self._slots[slot] = one
                self._take(slot, self._read(slot, one.tokens))
                return

    def _read(self, slot: int, tokens: Sequence[int]) -> int:
        """Let the model read tokens of one slot; gives the token that follows."""
        logits = torch.empty(0)
        for first in range(0, len(tokens), _CHUNK):
            part = tokens[first : first + _CHUNK]
            logits = self._model.forward(slot, [Row(part)], last_only=True)
            self._model.keep(slot, range(len(part)))
        return choose(logits, [self._at(slot)])[0]

    def _at(self, slot: int) -> Conversation:
        found = self._slots[slot]
        assert found is not None, "the slot is in use"
        return found


def choose(logits: Tensor, rows: Sequence[Conversation]) -> list[int]:
    """Choose the token that follows in each row: the likeliest, or by its own chance.

    :param logits: [rows, vocabulary].
    """
    likeliest = logits.float().topk(min(_TOP_K, logits.shape[-1]), -1)
    values, ids = likeliest.values.cpu(), likeliest.indices.cpu()
    chosen = [0] * len(rows)
    for index, row in enumerate(rows):
        if row.heat > 0:
            weights = (values[index] / row.heat).softmax(-1)
            chosen[index] = row.chance.draw(weights)
    return [int(ids[index, place]) for index, place in enumerate(chosen)]
