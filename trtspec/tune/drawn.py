"""What sampled decoding would have had accepted: drawn from the chances of a trace.

A sampled draft is accepted to some length with a known chance, so a trace of it stands
for many courses that decoding may take. Several are drawn, each like a greedy trace.
The text is that of the trace in all of them: what would have been sampled otherwise is
taken to be like it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from trtspec.tune.trace import PromptTrace

COURSES = 8
"""Courses that are drawn of every answer."""


def drawn(
    traces: Sequence[PromptTrace], courses: int = COURSES, seed: int = 0
) -> list[list[PromptTrace]]:
    """Draw courses of a workload; one, as it is, of greedy traces."""
    if all(trace.chances is None for trace in traces):
        return [list(traces)]
    chance = random.Random(seed)
    return [[_course(trace, chance) for trace in traces] for _ in range(courses)]


def _course(trace: PromptTrace, chance: random.Random) -> PromptTrace:
    """Draw at every place how much is accepted.

    One number decides a place: the draft is accepted to a length if it is below the
    chance of that length, and chances never rise with the length.
    """
    if trace.chances is None:  # nothing was ever drafted
        return trace
    accepted = []
    for chances in trace.chances:
        number = chance.random()
        accepted.append(sum(number < one for one in chances))
    return trace.model_copy(update={"accepted": tuple(accepted), "chances": None})
