"""What was said before a later turn, where the prompts file does not say it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trtspec.bench.driver import BenchPrompt, Call, Driver
from trtspec.bench.records import Load
from trtspec.errors import Problem, RunError
from trtspec.recipe.turns import needs_answers, with_answers
from trtspec.recipe.workload import Prompt
from trtspec.run import SamplingParams

Render = Callable[[Sequence[Prompt]], Sequence[BenchPrompt]]


def with_history(
    prompts: Sequence[Prompt], driver: Driver, render: Render, output_tokens: int
) -> Sequence[Prompt]:
    """Give every prompt the answers before it, made once by the off arm, greedily.

    So all arms, and all blocks, get the same conversations, whatever they answer
    themselves.

    :param driver: of the off arm.
    :param render: makes of prompts what the driver sends.
    :param output_tokens: most tokens of an answer.
    :raises RunError: if an answer cannot be had.
    """
    if not needs_answers(prompts):
        return prompts

    def answer_all(asked: Sequence[Prompt]) -> list[str]:
        calls = [
            Call(f"{p.id}/history", p, output_tokens, SamplingParams(), speculate=False)
            for p in render(asked)
        ]
        done = driver.run(calls, Load(concurrency=1))
        if done.failed:
            raise RunError.from_problems(
                Problem(f"no answer to go on from: {f.what}", f"prompt {f.request_id}")
                for f in done.failed
            )
        return [outcome.text for outcome in done.answered]

    return with_answers(prompts, answer_all)
