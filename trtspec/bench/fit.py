"""Whether the load that is asked for can run as it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from trtspec.bench.collect import BenchPrompt
from trtspec.bench.plan import BenchPlan, Choices, settings_for
from trtspec.errors import Problem, UsageError
from trtspec.recipe.schema import Recipe
from trtspec.run import Runner


def require_concurrency(recipe: Recipe, choices: Choices, prompts: int) -> None:
    """Refuse a concurrency that cannot be, before an engine is loaded.

    :param prompts: how many prompts are used.
    :raises UsageError: listing every such concurrency.
    """
    concurrency = settings_for(recipe, choices).concurrency
    slots = recipe.limits.max_batch_size
    if problems := _concurrency_problems(concurrency, slots, prompts):
        raise UsageError.from_problems(problems)


def require_runnable(runner: Runner, plan: BenchPlan) -> None:
    """Refuse a load that would not be what it says.

    :raises UsageError: listing everything that does not fit.
    """
    problems = [
        *_id_problems(plan.prompts),
        *_length_problems(runner, plan.prompts, plan.settings.output_tokens),
        *_concurrency_problems(
            plan.settings.concurrency, runner.max_running, len(plan.prompts)
        ),
    ]
    if problems:
        raise UsageError.from_problems(problems)


def _id_problems(prompts: Sequence[BenchPrompt]) -> list[Problem]:
    counts = Counter(prompt.id for prompt in prompts)
    return [
        Problem(f"id {i!r} occurs {n} times", "prompts", "one line per id")
        for i, n in counts.items()
        if n > 1
    ]


def _length_problems(
    runner: Runner, prompts: Sequence[BenchPrompt], output_tokens: int
) -> list[Problem]:
    room = min(runner.max_input_tokens, runner.max_total_tokens - output_tokens)
    if room < 1:
        return [
            Problem(
                f"{output_tokens} output tokens leave no room for a prompt",
                "output_tokens",
                f"below limits.max_total_tokens, {runner.max_total_tokens}",
            )
        ]
    return [
        Problem(
            f"is {len(prompt.tokens)} tokens long",
            f"prompt {prompt.id}",
            f"1 to {room} tokens, with {output_tokens} output tokens",
            "shorten the prompt, lower --output-tokens or raise the limits",
        )
        for prompt in prompts
        if not 1 <= len(prompt.tokens) <= room
    ]


def _concurrency_problems(
    concurrency: Sequence[int], slots: int, prompts: int
) -> list[Problem]:
    most = min(slots, prompts)
    return [
        Problem(
            f"{requests} requests cannot be kept in flight",
            "concurrency",
            f"1 to {most}: limits.max_batch_size is {slots}, "
            f"and there are {prompts} prompts",
            "choose another with --concurrency, or use more prompts",
        )
        for requests in concurrency
        if not 1 <= requests <= most
    ]
