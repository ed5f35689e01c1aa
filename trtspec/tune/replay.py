"""How many steps a draft length would have taken: decoded again without the models."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trtspec.run import DraftStep
from trtspec.tune.trace import PromptTrace

LengthAt = Callable[[int], int]
"""Gives the draft length for so many running requests; 0 drafts nothing."""
GroupSize = Callable[[Sequence[int]], int]
"""Says how many of the waiting prompts, by their lengths, are read in one prefill."""


class EngineStep(NamedTuple):
    """One step of the engine, over all running requests.

    :ivar running: requests in the batch.
    :ivar context: tokens of the longest text in it.
    :ivar asked: deepest draft that one request asked its drafter for.
    :ivar longest: most draft tokens of one request that the target reads.
    :ivar drafted: draft tokens of all of them.
    :ivar accepted: those that became output.
    :ivar emitted: tokens emitted.
    """

    running: int
    context: int
    asked: int
    longest: int
    drafted: int
    accepted: int
    emitted: int


@dataclass(frozen=True, slots=True)
class Replayed:
    """What a replay brought.

    :param steps: every decode step of the engine, in order.
    :param by_prompt: each request's own steps, by prompt id.
    :param read: tokens of all prompts, padded as they were read together.
    :param groups: how often prompts were read.
    """

    steps: tuple[EngineStep, ...]
    by_prompt: dict[str, tuple[DraftStep, ...]]
    read: int = 0
    groups: int = 0

    @property
    def acceptance_length(self) -> float | None:
        """1 + accepted / steps over all requests; None if there was no step."""
        steps = [step for own in self.by_prompt.values() for step in own]
        if not steps:
            return None
        return 1 + sum(step.accepted for step in steps) / len(steps)


class _Running:
    """One request on its way; what a step needs of its trace lies at hand.

    :ivar emitted: tokens so far; the prefill emits the first one.
    :ivar steps: taken so far.
    """

    __slots__ = (
        "accepted",
        "drafted",
        "emitted",
        "end",
        "last",
        "offered",
        "prompt_tokens",
        "steps",
        "verified",
    )

    def __init__(self, trace: PromptTrace) -> None:
        self.emitted, self.end = 1, trace.emitted
        self.last = trace.limit - 1
        self.prompt_tokens = trace.prompt_tokens
        self.offered, self.accepted = trace.offered, trace.accepted
        self.drafted, self.verified = trace.drafted, trace.verified
        self.steps: list[DraftStep] = []

    @property
    def finished(self) -> bool:
        return self.emitted == self.end


def walk(trace: PromptTrace, length: int) -> list[int]:
    """Decode one answer again with a fixed draft length.

    :return: of each step, the draft tokens that the target reads.
    """
    read = []
    emitted, end, last = 1, trace.emitted, trace.limit - 1
    offered, accepted = trace.offered, trace.accepted
    nodes = trace.verified or trace.drafted
    # the same as in ``_step``, in the planner's innermost loop
    while emitted < end:
        place, room = emitted - 1, last - emitted
        most = length if length < room else room
        depth = offered[place] if offered[place] < most else most
        read.append(nodes[place] if nodes and depth else depth)
        path = accepted[place]
        emitted += (path if path < most else most) + 1
    return read


def replay(
    traces: Sequence[PromptTrace],
    concurrency: int,
    length_at: LengthAt,
    group_size: GroupSize = len,
) -> Replayed:
    """Decode all answers again in a closed loop, by the rules of the reference engine.

    Requests join before a step is taken, and what finished makes room for the next. The
    steps are those of the engine itself as long as its drafts depend on the text alone:
    greedy decoding with a chain that may be cut anywhere. Of a tree the depth is cut at
    the end of an answer, where the engine leaves nodes out: there their number is too
    high.

    :param concurrency: requests kept in flight.
    """
    waiting = deque((trace.prompt_id, _Running(trace)) for trace in traces)
    everyone = dict(waiting)
    joining: list[_Running] = []
    running: list[_Running] = []
    steps: list[EngineStep] = []
    read = groups = 0
    while waiting or joining or running:
        while waiting and len(joining) + len(running) < concurrency:
            joining.append(waiting.popleft()[1])
        if joining:
            sizes = [one.prompt_tokens for one in joining]
            count = group_size(sizes)
            read += max(sizes[:count]) * count
            groups += 1
            joined, joining = joining[:count], joining[count:]
            running += [one for one in joined if not one.finished]
            continue
        steps.append(_step(running, length_at(len(running))))
        running = [one for one in running if one.emitted != one.end]
    own = {name: tuple(one.steps) for name, one in everyone.items()}
    return Replayed(tuple(steps), own, read, groups)


def _step(running: Sequence[_Running], length: int) -> EngineStep:
    """Let every running request take one step with a draft of up to ``length``."""
    context = asked = longest = all_drafted = all_accepted = all_emitted = 0
    for one in running:
        before = one.emitted
        place, room = before - 1, one.last - before
        context = max(context, one.prompt_tokens + before)
        # the last token that fits is never a draft
        most = length if length < room else room
        depth = one.offered[place] if one.offered[place] < most else most
        path = one.accepted[place] if one.accepted[place] < most else most
        left = one.end - before
        emitted = path + 1 if path < left else left
        accepted = path if path < emitted else emitted
        drafted = one.drafted[place] if one.drafted and depth else depth
        verified = one.verified[place] if one.verified and depth else drafted
        one.steps.append(DraftStep(drafted, depth, accepted))
        one.emitted = before + emitted
        asked, longest = max(asked, most), max(longest, verified)
        all_drafted += drafted
        all_accepted += accepted
        all_emitted += emitted
    return EngineStep(
        len(running), context, asked, longest, all_drafted, all_accepted, all_emitted
    )
