"""Which methods can be measured here: their recipes, built, around one target model."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from trtspec.bench.candidates import Engine
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.in_process import InProcess
from trtspec.build.artifact import Artifact
from trtspec.build.build import build
from trtspec.build.progress import Progress
from trtspec.cli.common import backend_for
from trtspec.errors import TrtspecError, UsageError
from trtspec.files import sha256_file
from trtspec.recipe import load_prompts, load_recipe
from trtspec.reference.runner import ReferenceRunner, open_runner, same_target
from trtspec.run.tokens import TextCodec

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "recipes/smollm2-135m"
ENGINES = ROOT / "engines"
OFF = "none"
"""The method that all others are compared with."""


@dataclass(frozen=True)
class Workload:
    """What every method is asked.

    :param prompts: in token ids, each with a category.
    :param sources: the files that they come from, each with its SHA-256.
    """

    prompts: tuple[BenchPrompt, ...]
    sources: dict[str, str]
    output_tokens: int

    @property
    def longest_prompt(self) -> int:
        """Tokens of the longest prompt."""
        return max(len(p.tokens or ()) for p in self.prompts)


def method_names(wished: str) -> list[str]:
    """Give the names of the wanted methods, the off arm first.

    :param wished: ``all``, or names of recipes with commas between them.
    :raises UsageError: if there is no such recipe.
    """
    known = sorted(path.stem for path in RECIPES.glob("*.yaml"))
    names = known if wished == "all" else wished.split(",")
    if unknown := [name for name in names if name not in known]:
        raise UsageError(
            f"{unknown[0]!r} has no recipe in {RECIPES}",
            where="--methods",
            allowed=f"all, or any of: {', '.join(known)}",
        )
    return [OFF, *(name for name in dict.fromkeys(names) if name != OFF)]


def built(name: str, dtype: str, log: Callable[[str], None]) -> Artifact:
    """Build a bundled recipe with its target in ``dtype``.

    :raises TrtspecError: if it cannot be built, such as for want of its drafter.
    """
    # relative, for messages that name it
    loaded = load_recipe(os.path.relpath(RECIPES / f"{name}.yaml"))
    target = loaded.recipe.target.model_copy(update={"dtype": dtype})
    recipe = loaded.recipe.model_copy(update={"target": target})
    progress = Progress(log, news_only=True)
    changed = replace(loaded, recipe=recipe)
    return build(changed, backend_for(recipe), ENGINES, progress).artifact


def read_workload(
    files: Sequence[Path], limit: int | None, output_tokens: int, codec: TextCodec
) -> Workload:
    """Read the prompts of all files, category by category.

    :param limit: most prompts per category; None for all.
    :raises UsageError: if a file holds no prompts.
    """
    groups: dict[str, list[BenchPrompt]] = {}
    for file in files:
        for prompt in load_prompts(file, "--prompts"):
            category = prompt.category or file.stem
            group = groups.setdefault(category, [])
            if limit is None or len(group) < limit:
                name = f"{file.stem}/{prompt.id}"
                tokens = codec.encode_chat(prompt.messages)
                group.append(BenchPrompt(name, category, prompt.messages, tokens))
    return Workload(
        prompts=tuple(prompt for group in groups.values() for prompt in group),
        sources={file.name: sha256_file(file) for file in files},
        output_tokens=output_tokens,
    )


def open_all(
    artifacts: dict[str, Artifact],
    work: Workload,
    batch: int,
    log: Callable[[str], None],
) -> tuple[list[Engine], dict[str, str]]:
    """Load every method around one target model; also why some cannot be.

    :param batch: requests that run at once.
    """
    engines: list[Engine] = []
    skipped: dict[str, str] = {}
    lender: ReferenceRunner | None = None
    for name, artifact in artifacts.items():
        try:
            if not same_target(artifact, artifacts[OFF]):
                raise UsageError(f"its target model is not that of {OFF}")
            roomy = _with_room(artifact, work, batch)
            runner = open_runner(roomy, lender=lender)
        except TrtspecError as error:
            skipped[name] = reason(error)
            continue
        lender = lender or runner
        engines.append(Engine(artifact, InProcess(runner), work.prompts))
        log(f"{name} is loaded")
    return engines, skipped


def reason(error: TrtspecError) -> str:
    """Say in one line why a method is left out."""
    return " ".join(error.problems[0].what.split())


def _with_room(artifact: Artifact, work: Workload, batch: int) -> Artifact:
    """Give the recipe limits that hold the load: they decide memory, not speed."""
    limits = artifact.recipe.limits.model_copy(
        update={
            "max_batch_size": batch,
            "max_input_tokens": work.longest_prompt,
            "max_total_tokens": work.longest_prompt + work.output_tokens,
        }
    )
    recipe = artifact.recipe.model_copy(update={"limits": limits})
    return replace(artifact, recipe=recipe)
