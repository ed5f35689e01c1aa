"""A reference that knows the world in which arms answer, exactly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tests.verify.distribution.worlds import VOCABULARY, World, distribution
from trtspec.verify.oracle.positions import Position
from trtspec.verify.oracle.sampled import Judge
from trtspec.verify.oracle.symbols import symbols_by_id, symbols_by_text

POSITIONS = tuple(
    Position(f"p{i}", (i, 3, (5 * i + 2) % VOCABULARY), 1) for i in range(6)
)


class Known(NamedTuple):
    p: np.ndarray
    moved: float


def reference(plan, world=None, *, moved=0.0, as_text=False, temperature=None):
    """What comes after a text in a world: only its last token matters."""
    seen = world or World()

    def after(text, paths):
        logits = seen.logits(text)
        rows = distribution(logits, temperature or plan.temperature, plan.top_p)
        return [Known(rows[(*text, *path)[-1] % VOCABULARY], moved) for path in paths]

    symbols = symbols_by_id(VOCABULARY, ())
    if as_text:
        texts = [f"w{token}" for token in range(VOCABULARY)]
        symbols = symbols_by_text(texts, ())
    return Judge("a world", symbols, after)
