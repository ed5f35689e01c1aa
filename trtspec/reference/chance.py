"""Where chance comes from: one seeded stream per request, so results are repeatable."""

from __future__ import annotations

import random
from typing import Protocol

import torch
from torch import Tensor


class Chance(Protocol):
    """The only two random decisions that decoding needs.

    Acceptance is written against this protocol, so that a test can replace chance by
    an enumeration of every outcome and prove the very code that runs.
    """

    def flip(self, probability: float) -> bool:
        """Come out True with the given probability."""
        ...

    def draw(self, distribution: Tensor) -> int:
        """Draw an index from non-negative weights [vocabulary] (any total > 0)."""
        ...


class SeededChance:
    """Chance from a request's seed; independent of other requests and of the batch.

    :param apart: the request's id, to draw apart from others with the same seed. Where
        a draft depends on what other requests came out with, their chance must not be
        the very one that decides on the draft.
    """

    def __init__(self, seed: int, apart: str | None = None) -> None:
        # as text, for random takes -1 for 1
        text = str(seed) if apart is None else f"{seed} {apart}"
        self._random = random.Random(seed if apart is None and seed >= 0 else text)

    def flip(self, probability: float) -> bool:
        """Come out True with the given probability (never at 0, always at 1)."""
        return self._random.random() < probability

    def draw(self, distribution: Tensor) -> int:
        """Draw an index by inverting the cumulative distribution."""
        cumulative = distribution.cumsum(0)
        level = self._random.random() * float(cumulative[-1])
        index = int(torch.searchsorted(cumulative, level, right=True))
        if index < len(distribution) and distribution[index] > 0:
            return index
        # rounding put the level at the very end: take the last possible token
        return int(distribution.nonzero()[-1])
