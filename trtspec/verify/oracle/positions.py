"""Behind which texts the sampled tokens of an engine are judged.

A text is a prompt and a part of the off arm's greedy answer to it. Where one token has
nearly all of the probability, no fault of sampling can show; so texts are drawn, from a
seed, among those behind which the reference engine is uncertain. That looks at the
reference only, never at what is judged.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Tokens = tuple[int, ...]
Sureness = Callable[[Tokens, Tokens], Sequence[float]]
"""Gives, for a prompt and an output, the largest probability at each place of it."""

CERTAIN = 0.9
"""Probability of the likeliest token from which on a place is left out."""
POSITIONS = 8


@dataclass(frozen=True, slots=True)
class Position:
    """A text, and whose it is.

    :param text: token ids of the prompt and the part of the answer.
    :param after: how long that part is.
    """

    prompt_id: str
    text: Tokens
    after: int

    @property
    def id(self) -> str:
        """Name of the position."""
        return f"{self.prompt_id}+{self.after}"


def choose_positions(  # noqa: PLR0917
    prompts: Mapping[str, Tokens],
    answers: Mapping[str, Tokens],
    sureness: Sureness,
    longest: int | None,
    count: int = POSITIONS,
    seed: int = 0,
) -> tuple[Position, ...]:
    """Choose so many texts, spread over the prompts.

    :param prompts: as token ids, by id.
    :param answers: greedy ones to them, of which beginnings are used; of one token
        alone that is none: the prompt itself.
    :param longest: most tokens of a text; None for any number.
    """
    chance = random.Random(seed)
    order = list(prompts)
    chance.shuffle(order)
    left = {
        name: _places(prompts[name], answers[name], sureness, longest, chance)
        for name in order[: 2 * count]
    }
    chosen: dict[Tokens, Position] = {}
    while len(chosen) < count and any(left.values()):
        for name in [one for one in left if left[one]][: count - len(chosen)]:
            after = left[name].pop()
            text = (*prompts[name], *answers[name][:after])
            chosen.setdefault(text, Position(name, text, after))
    return tuple(chosen.values())


def _places(
    prompt: Tokens,
    answer: Tokens,
    sureness: Sureness,
    longest: int | None,
    chance: random.Random,
) -> list[int]:
    """Give the lengths of beginnings of an answer behind which it is uncertain."""
    sure = sureness(prompt, answer)
    room = len(answer) if longest is None else longest - len(prompt)
    found = [place for place, p in enumerate(sure) if p < CERTAIN and place <= room]
    chance.shuffle(found)
    return found
