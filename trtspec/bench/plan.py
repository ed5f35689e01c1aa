"""What is to be measured: prompts and settings, before an engine is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from trtspec.bench.doubts.prompts import prompt_doubts
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.records import Load
from trtspec.bench.result import PromptSet, Settings
from trtspec.errors import Problem, UsageError
from trtspec.files import sha256_file, sha256_json
from trtspec.recipe.schema import Recipe, Sampling, Workload
from trtspec.recipe.workload import Prompt, Turns, load_prompts


@dataclass(frozen=True, slots=True)
class Choices:
    """What the user chose for this run; None leaves it to the artifact's recipe.

    :param draft_lengths: each is an arm of its own; none: the recipe's own drafting.
    :param control: run the off arm once more in every round.
    :param goodput: limits in seconds by metric.
    :param by_category: measure each category of prompts as a load of its own.
    :param turns: of each conversation the first, or all, each as a prompt of its own.
    """

    prompts: Path | None = None
    limit: int | None = None
    output_tokens: int | None = None
    loads: tuple[Load, ...] | None = None
    repeats: int = 5
    draft_lengths: tuple[int, ...] = ()
    control: bool = True
    fixed_length: bool = False
    goodput: Mapping[str, float] = field(default_factory=dict)
    by_category: bool = False
    turns: Turns = "first"


def ladder(concurrency: Sequence[int]) -> tuple[Load, ...]:
    """Give a closed loop per concurrency."""
    return tuple(Load(concurrency=c) for c in concurrency)


def by_category(loads: Sequence[Load], categories: Sequence[str]) -> tuple[Load, ...]:
    """Give every load once per category of prompts.

    :param categories: that of each prompt.
    :raises UsageError: if a prompt has none.
    """
    if "" in categories:
        raise UsageError(
            f"{categories.count('')} of {len(categories)} prompts have no category",
            where="--by-category",
            allowed='prompts with "category"',
            action="add it to each line of the file, or leave --by-category out",
        )
    return tuple(
        load.model_copy(update={"category": category})
        for load in loads
        for category in dict.fromkeys(categories)
    )


def read_prompts(
    recipe_file: Path | None, choices: Choices
) -> tuple[Path, list[Prompt]]:
    """Give the file of prompts and those of them that are used.

    :param recipe_file: the prompts that come with the first artifact.
    :raises UsageError: if there is no such file, or it holds no valid prompts.
    """
    file = choices.prompts or recipe_file
    if file is None:
        raise UsageError(
            "the recipe has no workload, so there are no prompts",
            action="name a JSONL file with --prompts, or add workload to the recipe",
        )
    where = "--prompts" if choices.prompts else ""
    prompts = load_prompts(file, where, turns=choices.turns)
    return file, list(prompts[: choices.limit])


def prompt_set(
    file: Path,
    prompts: Sequence[Prompt],
    rendered: Sequence[BenchPrompt],
    turns: Turns = "first",
) -> PromptSet:
    """Say which prompts are used, and how the model sees them.

    :param rendered: the same prompts through the chat template.
    """
    ids = [prompt.tokens for prompt in rendered]
    return PromptSet(
        file=file.name,
        sha256=sha256_file(file),
        count=len(prompts),
        rendered_sha256=None if None in ids else sha256_json(ids),
        messages_sha256=sha256_json([list(map(dict, p.messages)) for p in rendered]),
        turns=turns,
        doubts=prompt_doubts(rendered),
    )


def settings_for(
    recipes: Sequence[Recipe],
    choices: Choices,
    categories: Sequence[str] = (),
    *,
    prompts_cached: bool = False,
) -> Settings:
    """Give the user's choices, and the recipes' where there is none.

    :param recipes: of all artifacts; they must not disagree on what is asked of them.
    :param categories: that of each prompt.
    :raises UsageError: if they do, or prompts that are split by category have none.
    """
    _require_same_sampling(recipes)
    recipe = recipes[0]
    # prompts from elsewhere, no workload in the recipe: the schema's defaults
    workload = recipe.workload or Workload(prompts="none")
    settings = _settings(workload, recipe.sampling, choices, categories)
    return settings.model_copy(update={"prompts_cached": prompts_cached})


def server_settings(choices: Choices, categories: Sequence[str] = ()) -> Settings:
    """Give the user's choices, and a recipe's defaults where there is none: greedy.

    Nobody can tell what a server keeps of earlier prompts, so every prompt is run
    before it is measured.

    :param categories: that of each prompt.
    :raises UsageError: if prompts that are split by category have none.
    """
    settings = _settings(Workload(prompts="none"), Sampling(), choices, categories)
    return settings.model_copy(update={"prompts_cached": True})


def _settings(
    workload: Workload,
    sampling: Sampling,
    choices: Choices,
    categories: Sequence[str],
) -> Settings:
    loads = choices.loads or ladder(workload.concurrency)
    return Settings(
        loads=by_category(loads, categories) if choices.by_category else loads,
        repeats=choices.repeats,
        control=choices.control,
        output_tokens=choices.output_tokens or workload.output_tokens,
        fixed_length=choices.fixed_length,
        temperature=sampling.temperature,
        top_k=sampling.top_k,
        top_p=sampling.top_p,
        seed=sampling.seed,
        goodput=dict(choices.goodput),
    )


def _require_same_sampling(recipes: Sequence[Recipe]) -> None:
    first = recipes[0]
    problems = [
        Problem(
            f"{other.name} samples with {_sampling(other)}, {first.name} with "
            f"{_sampling(first)}",
            "sampling",
            "artifacts that ask for the same sampling",
            "build one of the recipes again with the other's sampling",
        )
        for other in recipes[1:]
        if other.sampling != first.sampling
    ]
    if problems:
        raise UsageError.from_problems(problems)


def _sampling(recipe: Recipe) -> str:
    return ", ".join(f"{k} {v}" for k, v in recipe.sampling.model_dump().items())
