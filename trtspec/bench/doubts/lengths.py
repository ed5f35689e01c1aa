"""Whether both arms wrote answers of the same length."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.bench.cells import Doubt
from trtspec.bench.metrics import ArmData
from trtspec.bench.result import Plan

STRONG = 0.10
"""Relative difference of all output tokens. Near ties move the end of single answers;
over a whole set of prompts that does not add up to a tenth."""


def length_doubts(plan: Plan, on: ArmData, off: ArmData) -> Iterator[Doubt]:
    """Compare the tokens that both arms emitted for the same requests.

    Greedy arms of one target emit the same, so a strong difference means that one
    stops early or goes on: its E2E latency is another thing's. Sampled arms may differ.
    """
    for arm in (off, on):
        yield from _beyond(plan, arm)
    ours, theirs = _tokens(on), _tokens(off)
    if not ours or not theirs or len(on.samples) != len(off.samples):
        return
    if max(ours, theirs) <= (1 + STRONG) * min(ours, theirs):
        return
    greedy = plan.settings.greedy
    why = (
        "greedy arms of one target do not, so one of them stops early or is not it"
        if greedy
        else "their E2E latencies are those of different texts"
    )
    yield Doubt(
        id="different-lengths",
        what=f"arm {on.arm} emitted {ours} tokens, arm {off.arm} {theirs} for the same "
        f"requests; {why}",
        fatal=greedy,
    )


def _beyond(plan: Plan, arm: ArmData) -> Iterator[Doubt]:
    """Look for answers that are longer than they were to be at most."""
    most = plan.settings.output_tokens
    longer = [s.output_tokens for s in arm.samples if s.output_tokens > most]
    if longer:
        yield Doubt(
            id="longer-than-asked",
            what=f"arm {arm.arm}: {len(longer)} of {len(arm.samples)} answers have "
            f"more than the {most} tokens that were asked for at most, up to "
            f"{max(longer)}: the server does not keep to max_tokens, or counts "
            "something else",
            fatal=False,
        )


def _tokens(arm: ArmData) -> int:
    return sum(s.output_tokens for s in arm.samples)
