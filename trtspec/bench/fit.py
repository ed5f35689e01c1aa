"""Whether the load that is asked for can run as it says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from trtspec.bench.driver import BenchPrompt
from trtspec.bench.records import Load
from trtspec.bench.result import Settings
from trtspec.errors import Problem, UsageError
from trtspec.recipe.schema import Recipe
from trtspec.run import Runner


def require_concurrency(
    recipes: Sequence[Recipe], loads: Sequence[Load], categories: Sequence[str]
) -> None:
    """Refuse a concurrency that cannot be, before an engine is loaded.

    :param categories: that of each prompt that is used.
    :raises UsageError: listing every such concurrency.
    """
    slots = min(recipe.limits.max_batch_size for recipe in recipes)
    if problems := _concurrency_problems(loads, slots, categories):
        raise UsageError.from_problems(problems)


def require_runnable(
    runner: Runner, prompts: Sequence[BenchPrompt], settings: Settings
) -> None:
    """Refuse a load that would not be what it says.

    :raises UsageError: listing everything that does not fit.
    """
    problems = [
        *_id_problems(prompts),
        *_length_problems(runner, prompts, settings.output_tokens),
        *_concurrency_problems(
            settings.loads, runner.max_running, [p.category for p in prompts]
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
        if prompt.tokens is not None and not 1 <= len(prompt.tokens) <= room
    ]


def _concurrency_problems(
    loads: Sequence[Load], slots: int, categories: Sequence[str]
) -> list[Problem]:
    problems = []
    for load in loads:
        prompts = sum(load.category in ("", category) for category in categories)
        most = min(slots, prompts)
        if load.concurrency is None or 1 <= load.concurrency <= most:
            continue
        which = f" of category {load.category}" if load.category else ""
        problems.append(
            Problem(
                f"{load.concurrency} requests cannot be kept in flight",
                "concurrency",
                f"1 to {most}: limits.max_batch_size is {slots}, "
                f"and there are {prompts} prompts{which}",
                "choose another with --concurrency, or use more prompts",
            )
        )
    return problems
