"""Where the choice depends on how often a verification reads the cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from trtspec.tune.choose import schedule
from trtspec.tune.decide import Evidence, surface
from trtspec.tune.price.priced import Priced


@dataclass(frozen=True, slots=True)
class Doubt:
    """One batch size at which the two bases choose differently.

    :param length: draft length if the cache is read once per request.
    :param upper_length: the same if it is read once per verified token.
    """

    batch: int
    length: int
    upper_length: int

    def told(self) -> str:
        """Say it in a line."""
        return (
            f"{self.batch} running: draft length {self.length}, or {self.upper_length} "
            "if verification reads the cache once per token"
        )


def doubts(priced: Priced, evidence: Evidence, batches: Sequence[int]) -> list[Doubt]:
    """Choose by both bases, and give the batch sizes at which that differs.

    :param evidence: what the choice is made from; its costs are not looked at.
    """
    lower, upper = (
        schedule(surface(replace(evidence, costs=costs), batches))
        for costs in (priced.costs, priced.upper)
    )
    return [
        Doubt(batch, lower[batch], upper[batch])
        for batch in sorted(lower)
        if lower[batch] != upper[batch]
    ]
