"""Every outcome of a random procedure, with its exact probability."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from torch import Tensor

Result = TypeVar("Result")


class ScriptedChance:
    """Follows a script of outcomes; past its end it takes the first possible one."""

    def __init__(self, script: tuple[int, ...]) -> None:
        self._script = script
        self.taken: list[int] = []
        self.choices: list[int] = []
        self.weight = 1.0

    def flip(self, probability: float) -> bool:
        possible = [(True, probability), (False, 1 - probability)]
        return self._take([(o, w) for o, w in possible if w > 0])

    def draw(self, distribution: Tensor) -> int:
        total = float(distribution.sum())
        return self._take(
            [(i, float(w) / total) for i, w in enumerate(distribution) if w > 0]
        )

    def _take(self, possible):
        step = len(self.taken)
        index = self._script[step] if step < len(self._script) else 0
        self.taken.append(index)
        self.choices.append(len(possible))
        outcome, weight = possible[index]
        self.weight *= weight
        return outcome


def outcomes(
    procedure: Callable[[ScriptedChance], Result],
) -> Iterator[tuple[float, Result]]:
    """Run the procedure once per possible sequence of random decisions."""
    scripts: list[tuple[int, ...]] = [()]
    while scripts:
        script = scripts.pop()
        chance = ScriptedChance(script)
        result = procedure(chance)
        yield chance.weight, result
        for step in range(len(script), len(chance.taken)):
            prefix = tuple(chance.taken[:step])
            scripts += [(*prefix, other) for other in range(1, chance.choices[step])]
