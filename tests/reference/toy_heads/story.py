"""Plays the engine for one drafter: texts at random, drafts accepted at random."""

from __future__ import annotations

import random
from collections.abc import Sequence

import torch

from trtspec.reference.chance import SeededChance
from trtspec.reference.drafters import DraftContext, Drafter, Observation
from trtspec.reference.tree import DraftTree
from trtspec.run import SamplingParams

GREEDY = SamplingParams(temperature=0.0)


class Story:
    """What the drafter is told of each slot; only chains are understood.

    :param width: of the states that it observes; 0 for none.
    """

    def __init__(self, drafter: Drafter, width: int, vocabulary: int = 48) -> None:
        self.drafter = drafter
        self.texts: list[list[int]] = []
        self.states: list[torch.Tensor] = []  # of all tokens but the last
        self._vocabulary, self._width = vocabulary, width
        self._random = random.Random(0)
        self._generator = torch.Generator().manual_seed(0)

    def join(self, tokens: int) -> None:
        """Let a request with a prompt of this length take the next slot."""
        self.texts.append([self._token() for _ in range(tokens)])
        self.states.append(torch.zeros(0, self._width))
        first = tokens // 2  # the prompt is read in two parts
        for size in (first, tokens - first):
            if size:
                self._observe(len(self.texts) - 1, size)
        self.texts[-1].append(self._token())

    def leave(self, slot: int) -> None:
        """Let a request finish; the last one takes its slot."""
        last = len(self.texts) - 1
        self.drafter.release(slot)
        if slot != last:
            self.drafter.move(last, slot)
        self.texts[slot], self.states[slot] = self.texts[last], self.states[last]
        del self.texts[last], self.states[last]

    def step(
        self, limits: Sequence[int], sampling: SamplingParams = GREEDY
    ) -> list[tuple[list[int], torch.Tensor, DraftTree]]:
        """Propose once; gives text, states and draft of each slot."""
        contexts = [
            DraftContext(text, limit, sampling, SeededChance(slot))
            for slot, (text, limit) in enumerate(zip(self.texts, limits, strict=True))
        ]
        trees = self.drafter.propose(contexts)
        seen = [
            (list(text), states, tree)
            for text, states, tree in zip(self.texts, self.states, trees, strict=True)
        ]
        for slot, tree in enumerate(trees):
            accepted = self._random.randint(0, len(tree))
            self.texts[slot] += [*tree.tokens[:accepted], self._token()]
            self._observe(slot, accepted + 1, tuple(range(accepted)))
        return seen

    def _observe(self, slot: int, size: int, path: tuple[int, ...] = ()) -> None:
        states = torch.randn(size, self._width, generator=self._generator)
        self.states[slot] = torch.cat((self.states[slot], states))
        told = states if self._width else None
        self.drafter.observe(slot, Observation(told, path=path))

    def _token(self) -> int:
        return self._random.randrange(3, self._vocabulary)


LIMITS = ((4, 4, 4), (2, 4, 0), (0, 1, 3), (4, 0, 4), (1, 1, 2), (3, 4, 4))
"""Steps of three slots, with drafts of all lengths and without."""
