"""What a choice is measured against: plain decoding, and the next best lengths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace

from trtspec.bench.arms import OFF, Arm, control_of
from trtspec.bench.candidates import Engine, arm_of
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.in_process import InProcess
from trtspec.bench.result import PromptSet, Settings
from trtspec.build.artifact import Artifact
from trtspec.methods import Method
from trtspec.reference.runner import ReferenceRunner, open_runner
from trtspec.tune.choose import best_of
from trtspec.tune.confirm import TUNED, fixed_name
from trtspec.tune.decide import Choice
from trtspec.tune.result import CandidateResult

ALTERNATIVES = 2
"""Single lengths that are measured beside the choice, unless all are."""


@dataclass(frozen=True, slots=True)
class Confirming:
    """What is confirmed, and with what.

    :param choice: the best candidate's.
    :param found: what is known of it so far.
    :param exhaustive: measure every draft length.
    """

    choice: Choice
    found: CandidateResult
    prompts: Sequence[BenchPrompt]
    prompt_set: PromptSet
    settings: Settings
    exhaustive: bool


Opening = Callable[[Confirming], AbstractContextManager[list[Arm]]]
"""Loads what the arms need until the end of the bench."""


def methods_to_measure(of: Confirming) -> dict[str, Method]:
    """Give the method of every arm that drafts, by the arm's name."""
    evidence, chosen = of.choice.evidence, of.choice.draft_length
    methods = {
        fixed_name(length): evidence.method_with(length)
        for length in lengths_to_measure(of.choice, exhaustive=of.exhaustive)
    }
    if chosen is None:
        return methods
    return {TUNED: evidence.method_with(chosen), **methods}


@contextmanager
def reference_arms(
    of: Confirming, device: str, threads: int | None
) -> Iterator[list[Arm]]:
    """Load the candidate on backend reference, all arms of it."""
    candidate, methods = of.choice.evidence.candidate, methods_to_measure(of)
    artifact = candidate.traced_artifact()
    with ExitStack() as stack:

        def opened(
            artifact: Artifact, lender: ReferenceRunner | None
        ) -> tuple[Engine, ReferenceRunner]:
            runner = open_runner(
                artifact, device=device, threads=threads, lender=lender
            )
            stack.callback(runner.close)
            return Engine(artifact, InProcess(runner), tuple(of.prompts)), runner

        engine, runner = opened(artifact, None)
        off = arm_of(engine, OFF, speculate=False)
        arms = [off, *([control_of(off)] if of.settings.control else [])]
        for name, method in methods.items():
            if candidate.ranked:  # a tree belongs to the engine
                other = artifact.recipe.model_copy(update={"speculation": method})
                own, _ = opened(replace(artifact, recipe=other), runner)
                arms.append(arm_of(own, name))
            else:
                arms.append(arm_of(engine, name, own=method))
        yield arms


def lengths_to_measure(choice: Choice, *, exhaustive: bool) -> list[int]:
    """Which single lengths are arms beside the choice.

    The best of each load and the next best, as far as they are not the choice itself.
    """
    lengths = choice.evidence.lengths
    if exhaustive:
        return list(lengths)
    wanted: list[int] = []
    for load in choice.question.loads:
        ranked = sorted(
            (p for p in choice.surface[load] if p.length),
            key=lambda p: -p.throughput,
        )
        wanted += [p.length for p in ranked[:2]]
    rest = [k for k in dict.fromkeys(wanted) if k != choice.draft_length]
    if choice.draft_length is None:  # show that nothing pays
        first = choice.question.loads[0]
        best = best_of([p for p in choice.surface[first] if p.length])
        return [best.length]
    if len(lengths) == 1:
        return []
    return rest[:ALTERNATIVES]
