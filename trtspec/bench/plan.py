"""What is to be measured: an artifact, prompts and settings, before the first step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from trtspec.bench.collect import BenchPrompt
from trtspec.bench.records import ARMS, warm_up_prompts
from trtspec.bench.result import PromptSet, Settings, Subject
from trtspec.build.artifact import Artifact
from trtspec.errors import UsageError
from trtspec.files import sha256_file
from trtspec.recipe.schema import Recipe, Workload
from trtspec.recipe.workload import Prompt, load_prompts
from trtspec.run import Runner


@dataclass(frozen=True, slots=True)
class BenchPlan:
    """What to measure.

    :param prompts: in token ids, in the order of the file.
    """

    artifact: Subject
    prompt_set: PromptSet
    prompts: tuple[BenchPrompt, ...]
    settings: Settings

    @property
    def requests(self) -> int:
        """Requests in all blocks of all cells, warm-up included."""
        prompts, repeats = len(self.prompts), self.settings.repeats
        return len(ARMS) * sum(
            warm_up_prompts(concurrency, prompts, cached=self.settings.prompts_cached)
            + repeats * prompts
            for concurrency in self.settings.concurrency
        )


@dataclass(frozen=True, slots=True)
class Choices:
    """What the user chose for this run; None leaves it to the artifact's recipe."""

    prompts: Path | None = None
    limit: int | None = None
    output_tokens: int | None = None
    concurrency: tuple[int, ...] | None = None
    repeats: int = 3


def require_speculation(recipe: Recipe, where: str) -> None:
    """Refuse a recipe whose two arms would be the same.

    :param where: file and line of its method, or the artifact.
    :raises UsageError: for ``method: none``.
    """
    if recipe.speculation.method == "none":
        raise UsageError(
            "method: none is the off arm, so there is nothing to compare it with",
            where=where,
            allowed="a recipe with a speculation method",
            action="bench a recipe that speculates: every bench measures off as well",
        )
    if recipe.backend == "pytorch":
        raise UsageError(
            "backend pytorch drafts for every request, so there is no off arm in an "
            "artifact of it",
            where=where,
            allowed="backend reference; ngram, draft_target or lookahead on backend "
            "tensorrt",
            action="build the same recipe with method: none beside it and compare "
            "`trtspec run --json` of the two; this version does not pair two artifacts",
        )
    if recipe.backend == "tensorrt" and recipe.speculation.always_drafts:
        raise UsageError(
            f"an engine for {recipe.speculation.method} cannot decode without "
            "drafting, so there is no off arm in it",
            where=where,
            allowed="ngram, draft_target or lookahead on backend tensorrt",
            action="build a recipe with method: none beside it and compare `trtspec "
            "run --json` of the two; this version does not pair two artifacts",
        )


def read_prompts(artifact: Artifact, choices: Choices) -> tuple[Path, list[Prompt]]:
    """Give the file of prompts and those of them that are used.

    :raises UsageError: if there is no such file, or it holds no valid prompts.
    """
    file = choices.prompts or artifact.workload
    if file is None:
        raise UsageError(
            "the recipe has no workload, so there are no prompts",
            action="name a JSONL file with --prompts, or add workload to the recipe",
        )
    where = "--prompts" if choices.prompts else ""
    return file, list(load_prompts(file, where)[: choices.limit])


def make_plan(
    artifact: Artifact,
    runner: Runner,
    file: Path,
    prompts: Sequence[Prompt],
    choices: Choices,
) -> BenchPlan:
    """Turn prompts into token ids and choices into settings.

    :param runner: tokenizes through the model's chat template.
    """
    return BenchPlan(
        artifact=Subject(
            name=artifact.name,
            fingerprint=artifact.fingerprint,
            recipe=artifact.recipe.model_dump(mode="json", by_alias=True),
        ),
        prompt_set=PromptSet(
            file=file.name, sha256=sha256_file(file), count=len(prompts)
        ),
        prompts=tuple(
            BenchPrompt(p.id, p.category, runner.encode_chat(p.messages))
            for p in prompts
        ),
        settings=settings_for(
            artifact.recipe, choices, prompts_cached=runner.caches_prompts
        ),
    )


def settings_for(
    recipe: Recipe, choices: Choices, *, prompts_cached: bool = False
) -> Settings:
    """Give the user's choices, and the recipe's where there is none."""
    # prompts from elsewhere, no workload in the recipe: the schema's defaults
    workload = recipe.workload or Workload(prompts="none")
    return Settings(
        concurrency=choices.concurrency or workload.concurrency,
        repeats=choices.repeats,
        output_tokens=choices.output_tokens or workload.output_tokens,
        temperature=recipe.sampling.temperature,
        top_k=recipe.sampling.top_k,
        top_p=recipe.sampling.top_p,
        seed=recipe.sampling.seed,
        prompts_cached=prompts_cached,
    )
