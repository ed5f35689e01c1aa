"""What may be said about speculation under one load."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from typing import Literal

from pydantic import Field

from trtspec.bench.power import SAME
from trtspec.bench.ratio import Interval, Ratio
from trtspec.bench.records import Record

Word = Literal["faster", "slower", "no difference", "no claim"]

MIN_BLOCKS = 3
MIN_PROMPTS = 8

_MAINLY = 1.5
"""Times as wide: errors add as squares, so the narrower part then hardly counts."""


class Verdict(Record):
    """One of four words, and the reason when it is no claim."""

    word: Word = Field(description="What the data say about the speed.")
    reason: str = Field(default="", description="Why no claim can be made.")


def judge(
    speed: Ratio | None,
    e2e: Ratio | None,
    *,
    blocks: int,
    prompts: int,
    drafted: int | None,
    control: Ratio | None = None,
    doubts: Sequence[str] = (),
) -> Verdict:
    """Judge the speed on / off; E2E latency may veto, never prove.

    If off against off is visibly apart from 1 in the same run, the interval is first
    widened by as much on both sides. Then it is

    - ``no difference``: if the 95 % interval lies within 0.97 to 1.03;
    - ``faster`` / ``slower``: if it lies above / below 1, and the interval of the E2E
      p50 ratio does not lie on the other side;
    - ``no claim``: anything else, fewer than 3 blocks or 8 prompts, a gain although
      nothing was drafted, or a fatal doubt.

    :param speed: on / off output throughput; in an open loop, where the arrivals set
        the throughput, off / on E2E latency.
    :param blocks: counted blocks per arm.
    :param drafted: draft tokens proposed in the arm; None if the engine does not tell.
    :param control: the same ratio of off again / off, where it was measured.
    :param doubts: what takes a claim away.
    """
    if reason := unusable(blocks, prompts, doubts):
        return _no_claim(reason)
    if speed is None or speed.interval is None:
        return _no_claim("there is no ratio of the speeds with an interval")
    word = _word(_widened(speed.interval, control))
    if reason := _objection(word, speed, control, e2e, drafted):
        return _no_claim(reason)
    return Verdict(word=word)


def _objection(
    word: Word,
    speed: Ratio,
    control: Ratio | None,
    e2e: Ratio | None,
    drafted: int | None,
) -> str:
    """Say what speaks against a word; empty if nothing does.

    :param word: that of the interval as the control widens it.
    """
    if speed.interval and word != _word(speed.interval):
        return _control_reason(control)
    if word == "no claim":
        return f"the interval contains 1; more {_narrowing(speed)} narrow it"
    if word == "faster" and drafted == 0:
        return "a gain with nothing drafted is not speculation's"
    if _contradicts(word, e2e):
        return "output throughput and E2E latency disagree"
    return ""


def _narrowing(speed: Ratio) -> str:
    """Name what makes the interval wide: the prompts, the blocks, or both."""
    if speed.prompts_interval is None or speed.blocks_interval is None:
        return "prompts or repeats"
    prompts, blocks = map(_width, (speed.prompts_interval, speed.blocks_interval))
    if prompts > _MAINLY * blocks:
        return "prompts"
    return "repeats" if blocks > _MAINLY * prompts else "prompts and repeats"


def _width(interval: Interval) -> float:
    return log(interval[1] / interval[0])


def unusable(blocks: int, prompts: int, doubts: Sequence[str]) -> str:
    """Say why nothing may be concluded from a comparison's numbers; empty if it may.

    :param doubts: the fatal ones.
    """
    if doubts:
        return "; ".join(doubts)
    if blocks < MIN_BLOCKS or prompts < MIN_PROMPTS:
        return (
            f"needs {MIN_BLOCKS} blocks and {MIN_PROMPTS} prompts, "
            f"has {blocks} and {prompts}"
        )
    return ""


def _word(interval: Interval) -> Word:
    low, high = interval
    if low >= 1 - SAME and high <= 1 + SAME:
        return "no difference"
    if low <= 1 <= high:
        return "no claim"
    return "faster" if low > 1 else "slower"


def _widened(interval: Interval, control: Ratio | None) -> Interval:
    """Widen by the control's own difference from 1, if its interval excludes 1.

    What moves off against off may have moved on against off just as far.
    """
    if control is None or control.interval is None:
        return interval
    low, high = control.interval
    if low <= 1 <= high:
        return interval
    moved = exp(abs(log(control.estimate)))
    return interval[0] / moved, interval[1] * moved


def _control_reason(control: Ratio | None) -> str:
    assert control is not None
    assert control.interval is not None
    low, high = control.interval
    return (
        f"off again / off is {control.estimate:.3f} [{low:.3f}, {high:.3f}] in the "
        "same run: the machine by itself differs as much"
    )


def _contradicts(word: Word, e2e: Ratio | None) -> bool:
    if e2e is None or e2e.interval is None:
        return False
    low, high = e2e.interval
    return (word == "faster" and low > 1) or (word == "slower" and high < 1)


def _no_claim(reason: str) -> Verdict:
    return Verdict(word="no claim", reason=reason)
