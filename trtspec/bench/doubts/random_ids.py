"""Whether token ids were drawn at random, or counted up, instead of coming from text.

Byte-pair vocabularies are ordered by how early a token was merged, so ids of text are
small for the most part, and some come again and again. Drawn ids are spread evenly over
the vocabulary and come once. Both are asked for, and each with room to spare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]

FEWEST_IDS = 96
"""Of one prompt; shorter ones are judged together."""

EVEN = 0.25
"""Largest Kolmogorov distance from an even spread that counts as even. The prompts of
Spec-Bench (arXiv 2401.07851), code and tables among them, are 0.55 away and more in the
vocabulary of SmolLM2; drawn ids, also decoded and encoded again, 0.17 at most."""

ONCE = 0.9
"""Different ids / as many as an even draw would give. The same prompts: 0.89 at most,
0.6 for most of them; drawn ids: 0.98 and more."""

COUNTED = 0.3
"""Share of ids that are the one before plus 1; 0.06 at most in the same prompts. Random
prompts of vLLM's benchmark (RandomDataset in vllm/benchmarks/datasets.py) count up from
a random start, and keep 0.8 of it when encoded again."""


@dataclass(frozen=True, slots=True)
class Random:
    """How many prompts look random, and what was seen."""

    count: int
    seen: str = ""


def random_by_ids(prompts: Sequence[Sequence[int]]) -> Random:
    """Count the prompts whose ids look drawn.

    What all prompts begin and end with, their chat template, is left out. The size of
    the vocabulary is taken from the largest id.

    :param prompts: token ids of each prompt.
    """
    if not prompts:
        return Random(0)
    bodies = _bodies([np.asarray(p, dtype=np.int64) for p in prompts])
    largest = max((int(body.max()) for body in bodies if len(body)), default=0)
    long = [body for body in bodies if len(body) >= FEWEST_IDS]
    short = [body for body in bodies if len(body) < FEWEST_IDS]
    found = [body for body in long if _looks_drawn(body, largest)]
    together = np.concatenate([*short, np.empty(0, dtype=np.int64)])
    if len(together) >= FEWEST_IDS and _looks_drawn(together, largest):
        found.extend(short)
    if not found:
        return Random(0)
    ids = np.concatenate(found)
    return Random(
        len(found),
        f"ids {distance_from_even(ids, largest):.2f} from an even spread over the "
        f"vocabulary, {len(np.unique(ids))} different ones among {len(ids)}",
    )


def _bodies(prompts: list[Ids]) -> list[Ids]:
    """Cut off what all prompts begin and end with."""
    if len(prompts) < 2:
        return prompts
    start = _common(prompts)
    rest = [prompt[start:] for prompt in prompts]
    end = _common([body[::-1] for body in rest])
    return [body[: len(body) - end] for body in rest]


def _common(prompts: list[Ids]) -> int:
    """Give how many ids all prompts have in common at their start."""
    shortest = min(map(len, prompts))
    table = np.stack([prompt[:shortest] for prompt in prompts])
    differing = np.flatnonzero((table != table[0]).any(axis=0))
    return int(differing[0]) if len(differing) else shortest


def _looks_drawn(ids: Ids, largest: int) -> bool:
    if np.mean(np.diff(ids) == 1) >= COUNTED:
        return True
    expected = _expected_different(len(ids), largest + 1)
    once = len(np.unique(ids)) / expected
    return once >= ONCE and distance_from_even(ids, largest) <= EVEN


def _expected_different(draws: int, vocabulary: int) -> float:
    """Different values among even draws: V (1 - (1 - 1/V)^n)."""
    return float(-vocabulary * np.expm1(draws * np.log1p(-1 / max(vocabulary, 2))))


def distance_from_even(ids: Ids, largest: int) -> float:
    """Give the Kolmogorov-Smirnov distance from an even spread over 0 to the largest.

    sup |F(x) - x| with F the share of ids up to x; 0 for perfectly even ones, near 1
    if all are small.
    """
    places = np.sort(ids) / max(largest, 1)
    steps = np.arange(1, len(places) + 1) / len(places)
    above = (steps - places).max()
    below = (places - steps + 1 / len(places)).max()
    return float(max(above, below))
