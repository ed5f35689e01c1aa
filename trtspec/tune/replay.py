"""How many steps a draft length would have taken: decoded again without the models."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
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
    """

    steps: tuple[EngineStep, ...]
    by_prompt: dict[str, tuple[DraftStep, ...]]
    read: int = 0

    @property
    def acceptance_length(self) -> float | None:
        """1 + accepted / steps over all requests; None if there was no step."""
        steps = [step for own in self.by_prompt.values() for step in own]
        if not steps:
            return None
        return 1 + sum(step.accepted for step in steps) / len(steps)


class Taken(NamedTuple):
    """One step of one request.

    :ivar asked: depth that was asked for.
    :ivar verified: draft tokens that the target reads.
    :ivar emitted: tokens emitted.
    """

    step: DraftStep
    asked: int
    verified: int
    emitted: int


@dataclass
class _Running:
    trace: PromptTrace
    emitted: int = 1
    """The prefill emits the first token."""
    steps: list[DraftStep] = field(default_factory=list)

    @property
    def finished(self) -> bool:
        return self.emitted == self.trace.emitted

    def advance(self, length: int) -> Taken:
        """Take one step with a draft of up to ``length`` tokens."""
        trace, place = self.trace, self.emitted - 1
        # the last token that fits is never a draft
        most = min(length, trace.limit - self.emitted - 1)
        depth = min(trace.offered[place], most)
        path = min(trace.accepted[place], most)
        emitted = min(path + 1, trace.emitted - self.emitted)
        drafted = trace.drafted[place] if trace.drafted and depth else depth
        verified = trace.verified[place] if trace.verified and depth else drafted
        step = DraftStep(drafted, depth, min(path, emitted))
        self.steps.append(step)
        self.emitted += emitted
        return Taken(step, most, verified, emitted)


def walk(trace: PromptTrace, length: int) -> list[int]:
    """Decode one answer again with a fixed draft length.

    :return: of each step, the draft tokens that the target reads.
    """
    one = _Running(trace)
    read = []
    while not one.finished:
        read.append(one.advance(length).verified)
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
    waiting = deque(traces)
    joining: list[_Running] = []
    running: list[_Running] = []
    everyone: list[_Running] = []
    steps: list[EngineStep] = []
    read = 0
    while waiting or joining or running:
        while waiting and len(joining) + len(running) < concurrency:
            joining.append(_Running(waiting.popleft()))
        if joining:
            sizes = [one.trace.prompt_tokens for one in joining]
            count = group_size(sizes)
            read += max(sizes[:count]) * count
            joined, joining = joining[:count], joining[count:]
            everyone += joined
            running += [one for one in joined if not one.finished]
            continue
        steps.append(_step(running, length_at(len(running))))
        running = [one for one in running if not one.finished]
    return Replayed(
        tuple(steps),
        {one.trace.prompt_id: tuple(one.steps) for one in everyone},
        read,
    )


def _step(running: Sequence[_Running], length: int) -> EngineStep:
    context = max(one.trace.prompt_tokens + one.emitted for one in running)
    taken = [one.advance(length) for one in running]
    return EngineStep(
        running=len(running),
        context=context,
        asked=max(one.asked for one in taken),
        longest=max(one.verified for one in taken),
        drafted=sum(one.step.drafted for one in taken),
        accepted=sum(one.step.accepted for one in taken),
        emitted=sum(one.emitted for one in taken),
    )
