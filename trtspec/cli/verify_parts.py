"""The parts of a verification: how each is run, and how its figures read."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from trtspec.cli.verify_subject import Subject, concurrencies, floor_for
from trtspec.verify.canary.run import run_canary
from trtspec.verify.distribution import (
    AtAnotherTemperature,
    distribution_test,
    make_plan,
)
from trtspec.verify.distribution.plan import SHIFT, TEMPERATURE
from trtspec.verify.gate import Asked
from trtspec.verify.greedy.parity import Parity, ParityPlan, greedy_parity
from trtspec.verify.greedy.sentences import parity_lines
from trtspec.verify.greedy.tolerance import tolerance_for
from trtspec.verify.oracle import judge_tokens
from trtspec.verify.oracle_sentences import oracle_lines
from trtspec.verify.sentences import distribution_lines, gate_lines
from trtspec.verify.soak.run import run_soak
from trtspec.verify.verdict import PartName

Found = tuple[Any, Sequence[str]]
"""A part's record, and its lines."""
QUICK_SHIFT = 0.3
SAMPLED_AT_ONCE, CANARY_BURST = 8, 8
USUAL: tuple[PartName, ...] = ("gate", "greedy", "oracle", "sampled")


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

    @property
    def quick(self) -> bool:
        """Whether less is asked."""
        return bool(self.asked["quick"])


def chosen_parts(asked: Mapping[str, Any]) -> tuple[PartName, ...]:
    """Give the parts that are named; the usual ones if none is."""
    return tuple(name for name in RUNS if asked[name]) or USUAL


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
    subject = context.subject
    if subject.oracle is None:
        raise SkipError(subject.why_no_oracle)
    context.parity = context.parity or _parity(context)
    found = context.parity
    answers = {"off": found.off, subject.on.name: found.on}
    if any(a.tokens is None for some in answers.values() for a in some.values()):
        raise SkipError("the engine tells no token ids")
    judge = subject.oracle()
    context.tell(f"oracle: {judge.words}")
    tolerance = tolerance_for(
        subject.dtype, subject.dtype_from, found.record.tolerance.spread
    )
    record = judge_tokens(
        answers, subject.questions, judge.score, tolerance, judge.words
    )
    return record, oracle_lines(record)


def run_sampled(context: Context) -> Found:
    """Compare distributions of sampled answers."""
    subject = context.subject
    if subject.off is None:
        raise SkipError("there is no off arm to compare with")
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
    # a coarser test is shown a coarser fault: 1.4 times the temperature for 0.1
    factor = 1 + 4 * plan.shift
    make = subject.control or partial(AtAnotherTemperature, subject.off)
    control = make(factor)
    record = distribution_test(subject.off, subject.on, control, prompts, plan)
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
    if subject.runner is None or subject.artifact is None:
        raise SkipError("a soak needs an artifact: it submits and cancels in process")
    context.tell(f"soak: {seconds:g} s")
    record = run_soak(
        subject.runner,
        subject.artifact.recipe.speculation,
        [q.prompt for q in subject.questions if not isinstance(q.prompt, str)],
        seconds=seconds,
    )
    return record, [f"{c.name}: {c.verdict}: {c.what}" for c in record.checks]


def _parity(context: Context) -> Parity:
    subject = context.subject
    if subject.off is None:
        raise SkipError("there is no off arm to compare with")
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
    return greedy_parity(subject.off, subject.on, plan, subject.scorer)


RUNS: dict[PartName, Callable[[Context], Found]] = {
    "gate": run_gate,
    "greedy": run_greedy,
    "oracle": run_oracle,
    "sampled": run_sampled,
    "canary": run_canary_part,
    "soak": run_soak_part,
}
"""How each part is run, in their order."""
