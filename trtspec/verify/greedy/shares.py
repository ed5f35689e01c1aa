"""Shares of prompts with their intervals, and whether one share is above another."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from trtspec.bench.records import Record

CONFIDENCE = 0.95
ALPHA = 0.01
"""Largest probability by chance at which one share counts as above another."""


class Share(Record):
    """How many of how many, with the interval of the rate behind it."""

    count: int = Field(ge=0, description="How many.")
    of: int = Field(ge=1, description="Of how many.")
    low: float = Field(ge=0, le=1, description="Lower end of the 95 % interval.")
    high: float = Field(ge=0, le=1, description="Upper end of the 95 % interval.")

    @property
    def words(self) -> str:
        """Say it to a reader: ``3 of 24 (12 %, 4 to 31 %)``."""
        return (
            f"{self.count} of {self.of} ({self.count / self.of:.0%}, "
            f"{self.low:.0%} to {self.high:.0%})"
        )


def share(count: int, of: int) -> Share:
    """Give a share with Wilson's interval (E. B. Wilson, JASA 22, 1927)."""
    from scipy.stats import binomtest

    ends = binomtest(count, of).proportion_ci(CONFIDENCE, method="wilson")
    # rounding may leave an end a hair outside
    return Share(
        count=count, of=of, low=max(0.0, float(ends.low)), high=min(1.0, ends.high)
    )


def chance_of_excess(here: Sequence[bool], there: Sequence[bool]) -> float:
    """Say how probable it is that ``here`` is above ``there`` by chance alone.

    Both are about the same prompts, so only prompts count in which they differ; by
    chance each is as likely to be the one with the event (McNemar's test, exact and
    one-sided; Q. McNemar, Psychometrika 12, 1947).

    :param here: per prompt, whether it happened.
    :param there: the same prompts in the other comparison.
    """
    from scipy.stats import binomtest

    only_here = sum(a and not b for a, b in zip(here, there, strict=True))
    only_there = sum(b and not a for a, b in zip(here, there, strict=True))
    if not only_here + only_there:
        return 1.0
    test = binomtest(only_here, only_here + only_there, alternative="greater")
    return float(test.pvalue)
