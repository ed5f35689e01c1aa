"""Which answers a training step reads, and where in them drafts begin.

A *chain* is a place where drafting could begin: at start i the target has seen tokens
0 to i, token i + 1 is pending, and the draft's step s (from 0) proposes token
i + 2 + s. ``room`` is the number of such tokens that the same answer still has.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from trtspec.fit.answers import Answer
from trtspec.fit.states import StateStore

_BUCKET = 64  # batches whose answers are sorted by length together
_RUN = 32  # neighbouring chains, whose steps need the same target distributions
_GOLDEN = 0.618034


@dataclass(frozen=True, slots=True)
class Batch:
    """Answers side by side, padded behind, and K chains in them in order.

    :param tokens: ids [rows, n].
    :param states: the target's [rows, n, width]; the last part is the final state.
    :param row: row of each chain [K], ascending.
    :param start: where each chain begins [K], ascending in a row.
    :param room: tokens that each chain could get right [K], at least 1.
    """

    tokens: Tensor
    states: Tensor
    row: Tensor
    start: Tensor
    room: Tensor

    def to(self, device: torch.device) -> Batch:
        """Give the same on a device."""
        if device.type == "cpu":
            return self
        return Batch(*(getattr(self, part.name).to(device) for part in fields(self)))

    def some(self, most: int, turn: int) -> Batch:
        """Give the same with about ``most`` of the chains, in runs of neighbours.

        :param turn: which of them; all have their turn in the long run.
        """
        count, runs = len(self.row), max(most // _RUN, 1)
        if count <= most:
            return self
        first = torch.arange(runs) * (count / runs) + turn * _GOLDEN % 1 * count / runs
        chosen = first.long()[:, None] + torch.arange(_RUN)
        chosen = torch.unique(chosen.clamp(max=count - 1)).to(self.row.device)
        parts = (part[chosen] for part in (self.row, self.start, self.room))
        return Batch(self.tokens, self.states, *parts)

    def reaching(self, step: int) -> Tensor:
        """Chains that have a token for this step, ascending."""
        return (self.room > step).nonzero()[:, 0]

    def places(self, step: int) -> Tensor:
        """Where the target predicts what this step proposes: index into [rows * n]."""
        chosen = self.reaching(step)
        width = self.tokens.shape[1]
        return self.row[chosen] * width + self.start[chosen] + 1 + step


def plan_epoch(
    lengths: Sequence[int], tokens: int, seed: int, epoch: int
) -> list[list[int]]:
    """Share all answers out to batches of about the same number of tokens.

    :param lengths: tokens of each answer.
    :param tokens: most tokens of a batch, padding included; a longer answer is a batch.
    """
    chance = random.Random(f"{seed}/{epoch}")
    order = list(range(len(lengths)))
    chance.shuffle(order)
    mean = sum(lengths) / len(lengths)
    size = max(1, int(_BUCKET * tokens / mean))
    batches: list[list[int]] = []
    for first in range(0, len(order), size):
        bucket = sorted(order[first : first + size], key=lambda i: lengths[i])
        batches += _cut(bucket, lengths, tokens)
    chance.shuffle(batches)
    return batches


def in_order(lengths: Sequence[int], tokens: int) -> list[list[int]]:
    """Share answers out without chance, for measurements."""
    order = sorted(range(len(lengths)), key=lambda i: lengths[i])
    return list(_cut(order, lengths, tokens))


def _cut(
    order: Sequence[int], lengths: Sequence[int], tokens: int
) -> Iterator[list[int]]:
    """Cut answers in ascending length where the padded size is reached."""
    batch: list[int] = []
    for index in order:
        if batch and lengths[index] * (len(batch) + 1) > tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def chains(answer: Answer) -> list[tuple[int, int]]:
    """Give start and room of every chain of an answer."""
    return [
        (start, end - start - 2)
        for begin, end in answer.spans
        for start in range(begin - 1, end - 2)
    ]


def collate(
    answers: Sequence[Answer], store: StateStore, indices: Sequence[int]
) -> Batch | None:
    """Put answers side by side; None if they have no chain."""
    found = [chains(answers[index]) for index in indices]
    if not any(found):
        return None
    longest = max(len(answers[index].tokens) for index in indices)
    tokens = torch.zeros(len(indices), longest, dtype=torch.long)
    states = torch.zeros(len(indices), longest, store.width, dtype=torch.bfloat16)
    for row, index in enumerate(indices):
        own = store.read(index)
        tokens[row, : len(own)] = torch.tensor(answers[index].tokens)
        states[row, : len(own)] = own
    flat = torch.tensor(
        [(row, start, room) for row, own in enumerate(found) for start, room in own]
    )
    return Batch(tokens, states, *flat.T)
