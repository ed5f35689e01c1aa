"""The parts of a verification: how each is run, and how its figures read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from trtspec.cli.verify_subject import Subject, concurrencies, floor_for
from trtspec.run import SamplingParams
from trtspec.verify.arm import Arm
from trtspec.verify.arms.http import HttpArm
from trtspec.verify.canary.run import run_canary
from trtspec.verify.distribution import (
    AtAnotherTemperature,
    distribution_test,
    make_plan,
)
from trtspec.verify.distribution.plan import SHIFT, TEMPERATURE, TOP_P
from trtspec.verify.gate import Asked
from trtspec.verify.greedy.parity import Parity, ParityPlan, greedy_parity
from trtspec.verify.greedy.sentences import parity_lines
from trtspec.verify.oracle.sampled import (
    make_oracle_plan,
    oracle_requests,
    sampled_oracle,
)
from trtspec.verify.oracle.sentences import oracle_lines, sampled_oracle_lines
from trtspec.verify.sentences import distribution_lines, gate_lines
from trtspec.verify.soak.gauges import process_behind
from trtspec.verify.soak.leaks import memory_now
from trtspec.verify.soak.record import SoakResult
from trtspec.verify.soak.run import run_soak
from trtspec.verify.verdict import PartName

if TYPE_CHECKING:
    from trtspec.cli.verify_oracle import Judged

Found = tuple[Any, Sequence[str]]
"""A part's record, and its lines."""
QUICK_SHIFT = 0.3
SAMPLED_AT_ONCE, CANARY_BURST = 8, 8
ORACLE_SHIFT, QUICK_ORACLE_SHIFT = 0.2, 0.4
"""The oracle looks at other texts than the distribution test, and less closely."""
USUAL: tuple[PartName, ...] = ("gate", "greedy", "oracle", "sampled", "oracle_sampled")


_OPTION: dict[PartName, str] = {"oracle_sampled": "oracle"}
"""By which option a part is asked for, if not by its own name."""


class SkipError(Exception):
    """A part cannot be run here; the message says why."""


@dataclass(slots=True)
class Context:
    """What the parts work with, and what one leaves for the next.

    :param asked: the command's parameters, by name.
    :param tell: says on stderr what is going on.
    :ivar parity: what greedy parity found, once it has run.
    """

    subject: Subject
    asked: Mapping[str, Any]
    tell: Callable[[str], None]
    parity: Parity | None = field(default=None)
    _judge: Judged | None = field(default=None)

    def judge(self) -> Judged:
        """Give the reference engine; it is loaded once.

        :raises SkipError: if the target does not run on it.
        """
        if self._judge is None:
            if self.subject.oracle is None:
                raise SkipError(self.subject.why_no_oracle)
            self._judge = self.subject.oracle()
            self.tell(f"oracle: {self._judge.words}")
        return self._judge

    @property
    def quick(self) -> bool:
        """Whether less is asked."""
        return bool(self.asked["quick"])


def chosen_parts(asked: Mapping[str, Any]) -> tuple[PartName, ...]:
    """Give the parts that are named; the usual ones if none is."""
    return tuple(name for name in RUNS if asked[_OPTION.get(name, name)]) or USUAL


def run_gate(context: Context) -> Found:
    """Read what configuration and environment say; nobody is asked anything."""
    from trtspec.verify.gate import (
        gate_artifact,
        gate_configuration,
        read_configuration,
    )

    artifact, file = context.subject.artifact, context.asked["config"]
    if artifact is not None:
        found = gate_artifact(artifact, environment=os.environ)
    elif file is not None:
        asked = Asked(temperature=context.asked["temperature"] or 0.0)
        found = gate_configuration(read_configuration(file), asked=asked)
    else:
        raise SkipError("name what the server is started with: --config FILE")
    return found, gate_lines(found)


def run_greedy(context: Context) -> Found:
    """Compare greedy answers."""
    context.parity = context.parity or _parity(context)
    record = context.parity.record
    return record, parity_lines(record)


def run_oracle(context: Context) -> Found:
    """Judge the greedy answers token by token."""
    from trtspec.cli.verify_judging import judge_greedy

    context.judge()
    context.parity = context.parity or _parity(context)
    _require_same_prompts(context)
    record = judge_greedy(context.subject, context.judge(), context.parity)
    if record is None:
        raise SkipError("the engine tells no token ids")
    return record, oracle_lines(record)


def _require_same_prompts(context: Context) -> None:
    """Refuse to judge what a server read in another way.

    :raises SkipError: saying where that shows.
    """
    from trtspec.cli.verify_judging import other_prompts

    parity = context.parity
    assert parity is not None, "it ran before"
    if why := other_prompts(context.subject, context.judge(), parity):
        raise SkipError(why)


def run_oracle_sampled(context: Context) -> Found:
    """Judge sampled tokens by the reference engine's distributions."""
    from trtspec.cli.verify_judging import positions_for, prompts_for, reference_for

    subject, quick = context.subject, context.quick
    if not context.asked["sampled"] and (why := _lossy_unasked(context)):
        raise SkipError(why)
    judge = context.judge()
    context.parity = context.parity or _parity(context)
    _require_same_prompts(context)
    sampling = SamplingParams(_temperature(context), 0, TOP_P)
    positions = positions_for(subject, judge, context.parity, sampling)
    if not positions:
        raise SkipError("the target is certain of the next token in every answer")
    plan = make_oracle_plan(
        len(positions),
        context.asked["shift"] or (QUICK_ORACLE_SHIFT if quick else ORACLE_SHIFT),
        temperature=sampling.temperature,
        concurrency=min(subject.most_at_once, SAMPLED_AT_ONCE),
    )
    context.tell(f"oracle, sampled: {oracle_requests(plan, len(positions))}")
    off = _off(context)
    arms = (off, subject.on, _control(context, off, plan.shift))
    reference = reference_for(subject, judge, context.parity, plan)
    prompts = prompts_for(subject, positions)
    record = sampled_oracle(arms, positions, plan, reference, prompts)
    return record, sampled_oracle_lines(record)


def _off(context: Context) -> Arm:
    if context.subject.off is None:
        raise SkipError("there is no off arm to compare with")
    return context.subject.off


def _control(context: Context, off: Arm, shift: float) -> Arm:
    """Make an arm that is wrong: a coarser test is shown a coarser fault."""
    make = context.subject.control or partial(AtAnotherTemperature, off)
    return make(1 + 4 * shift)


def run_sampled(context: Context) -> Found:
    """Compare distributions of sampled answers."""
    subject = context.subject
    off = _off(context)
    if not context.asked["sampled"] and (why := _lossy_unasked(context)):
        raise SkipError(why)
    prompts = {q.id: q.prompt for q in subject.questions if not q.messages}
    plan = make_plan(
        len(prompts),
        shift=context.asked["shift"] or (QUICK_SHIFT if context.quick else SHIFT),
        temperature=_temperature(context),
        concurrency=min(subject.most_at_once, SAMPLED_AT_ONCE),
    )
    context.tell(f"sampled: {plan.cost(len(prompts))}")
    control = _control(context, off, plan.shift)
    record = distribution_test(off, subject.on, control, prompts, plan)
    return record, distribution_lines(record)


def _temperature(context: Context) -> float:
    """Give the temperature that is asked for, or the recipe's, or a usual one."""
    artifact = context.subject.artifact
    ours = artifact.recipe.sampling.temperature if artifact else 0.0
    return context.asked["temperature"] or ours or TEMPERATURE


def _lossy_unasked(context: Context) -> str:
    """Say why a greedy recipe is not tested for what it does not ask for."""
    from trtspec.verify.gate import gate_artifact

    artifact = context.subject.artifact
    if artifact is None or artifact.recipe.sampling.temperature:
        return ""
    asked = Asked(temperature=_temperature(context))
    found = gate_artifact(artifact, environment=os.environ, asked=asked)
    if found.verdict != "fail":
        return ""
    return f"the recipe is greedy; sampled requests would not be: {found.reasons[0]}"


def run_canary_part(context: Context) -> Found:
    """Look whether the engine is sane."""
    subject = context.subject
    context.tell("canary")
    record = run_canary(
        subject.on,
        subject.questions,
        talker=subject.talker,
        burst=min(subject.most_at_once, CANARY_BURST),
        always_drafts=subject.always_drafts,
    )
    lines = [f"{c.name}: {c.verdict}: {c.what}" for c in record.checks]
    return record, lines


def run_soak_part(context: Context) -> Found:
    """Load the engine for the time that is asked for."""
    subject, seconds = context.subject, context.asked["soak"]
    context.tell(f"soak: {seconds:g} s")
    if subject.server is not None:
        record = _soak_of_server(context, seconds)
    elif subject.runner is None or subject.artifact is None:
        raise SkipError("there is no engine to load")
    else:
        record = run_soak(
            subject.runner,
            subject.artifact.recipe.speculation,
            [q.prompt for q in subject.questions if not isinstance(q.prompt, str)],
            seconds=seconds,
        )
    lines = [f"{c.name}: {c.verdict}: {c.what}" for c in record.checks]
    return record, [*lines, *(f"not looked at: {w}" for w in record.not_looked_at)]


def _soak_of_server(context: Context, seconds: float) -> SoakResult:
    from trtspec.verify.soak.over_http import LEVELS, ServerSoak

    subject = context.subject
    arm = subject.on
    assert isinstance(arm, HttpArm), "a server is asked over HTTP"
    pid = subject.pid or process_behind(arm.server.address)
    levels = sorted(set(context.asked["concurrency"])) or LEVELS
    return ServerSoak(
        arm,
        subject.questions,
        levels,
        seconds,
        memory=partial(memory_now, pid) if pid else None,
    ).run()


def _parity(context: Context) -> Parity:
    subject, off = context.subject, _off(context)
    most = min(subject.most_at_once, len(subject.questions))
    chosen = concurrencies(context.asked["concurrency"], quick=context.quick, most=most)
    plan = ParityPlan(
        questions=subject.questions,
        concurrencies=chosen,
        floor=floor_for(chosen, subject.width, most),
        width=subject.width,
        dtype=subject.dtype,
        dtype_from=subject.dtype_from,
        tell=context.tell,
    )
    return greedy_parity(off, subject.on, plan, subject.scorer)


RUNS: dict[PartName, Callable[[Context], Found]] = {
    "gate": run_gate,
    "greedy": run_greedy,
    "oracle": run_oracle,
    "sampled": run_sampled,
    "oracle_sampled": run_oracle_sampled,
    "canary": run_canary_part,
    "soak": run_soak_part,
}
"""How each part is run, in their order."""
