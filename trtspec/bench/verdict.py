"""What may be said about speculation at one concurrency."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trtspec.bench.ratio import Ratio
from trtspec.bench.records import Record

Word = Literal["faster", "slower", "no difference", "no claim"]

MIN_BLOCKS = 3
MIN_PROMPTS = 8
SAME = 0.03
"""Ratios within 1 +- this are called no difference."""


class Verdict(Record):
    """One of four words, and the reason when it is no claim."""

    word: Word = Field(description="What the data say about the speed.")
    reason: str = Field(default="", description="Why no claim can be made.")


def judge(
    throughput: Ratio | None,
    e2e: Ratio | None,
    *,
    blocks: int,
    prompts: int,
    drafted: int,
) -> Verdict:
    """Judge the output throughput on / off; E2E latency may veto, never prove.

    - ``no difference``: the 95 % interval lies within 0.97 to 1.03;
    - ``faster`` / ``slower``: it lies above / below 1, and the interval of the E2E
      p50 ratio does not lie on the other side;
    - ``no claim``: anything else, fewer than 3 blocks or 8 prompts, or a gain
      although nothing was drafted.

    :param blocks: counted blocks per arm.
    :param drafted: draft tokens proposed in the on arm.
    """
    if blocks < MIN_BLOCKS or prompts < MIN_PROMPTS:
        return _no_claim(
            f"needs {MIN_BLOCKS} blocks and {MIN_PROMPTS} prompts, "
            f"has {blocks} and {prompts}"
        )
    if throughput is None or throughput.interval is None:
        return _no_claim("there is no throughput ratio")
    low, high = throughput.interval
    if low >= 1 - SAME and high <= 1 + SAME:
        return Verdict(word="no difference")
    if low <= 1 <= high:
        return _no_claim("the interval contains 1; more repeats narrow it")
    return _direction("faster" if low > 1 else "slower", e2e, drafted)


def _direction(word: Word, e2e: Ratio | None, drafted: int) -> Verdict:
    if word == "faster" and not drafted:
        return _no_claim("a gain with nothing drafted is not speculation's")
    if _contradicts(word, e2e):
        return _no_claim("output throughput and E2E latency disagree")
    return Verdict(word=word)


def _contradicts(word: Word, e2e: Ratio | None) -> bool:
    if e2e is None or e2e.interval is None:
        return False
    low, high = e2e.interval
    return low > 1 if word == "faster" else high < 1


def _no_claim(reason: str) -> Verdict:
    return Verdict(word="no claim", reason=reason)
