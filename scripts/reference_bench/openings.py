"""Which methods can be measured here: their recipes, built, around one target model."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from torch import nn

from trtspec.bench.collect import BenchPrompt
from trtspec.bench.result import PromptSet, Subject
from trtspec.build.artifact import Artifact
from trtspec.build.build import build
from trtspec.build.progress import Progress
from trtspec.cli.common import backend_for
from trtspec.errors import TrtspecError, UsageError
from trtspec.files import sha256_file
from trtspec.recipe import load_prompts, load_recipe
from trtspec.reference.runner import ReferenceRunner
from trtspec.reference.slots import SlotModel
from trtspec.run.tokens import TextCodec

ROOT = Path(__file__).resolve().parents[2]
RECIPES = ROOT / "recipes/smollm2-135m"
ENGINES = ROOT / "engines"
OFF = "none"
"""The method that all others are compared with."""


@dataclass(frozen=True)
class Opened:
    """A method that is ready to be measured."""

    name: str
    subject: Subject
    runner: ReferenceRunner


@dataclass(frozen=True)
class Load:
    """What every method is asked.

    :param prompts: by category, in token ids.
    :param sources: the files that they come from.
    """

    prompts: dict[str, tuple[BenchPrompt, ...]]
    sources: tuple[PromptSet, ...]
    output_tokens: int

    @property
    def longest_prompt(self) -> int:
        """Tokens of the longest prompt."""
        return max(len(p.tokens) for group in self.prompts.values() for p in group)


class SharingRunner(ReferenceRunner):
    """Runs an artifact on a target model that is loaded already."""

    def __init__(self, artifact: Artifact, lender: SharingRunner | None) -> None:
        """Open an artifact.

        :param lender: runs the same target model; None to load it.
        """
        self._target_directory = artifact.target
        self._lender = lender
        super().__init__(
            artifact.recipe,
            artifact.target,
            artifact.draft,
            chat_template=artifact.chat_template,
        )

    @property
    def target_model(self) -> nn.Module:
        """The target model itself."""
        return self._target.model

    def _slot_model(self, directory: Path, longest_step: int, device: str) -> SlotModel:
        if self._lender is None or directory != self._target_directory:
            return super()._slot_model(directory, longest_step, device)
        return self._slots(self._lender.target_model, longest_step)


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


def read_load(
    files: Sequence[Path], limit: int | None, output_tokens: int, codec: TextCodec
) -> Load:
    """Read the prompts of all files.

    :param limit: most prompts per category; None for all.
    :raises UsageError: if a file holds no prompts.
    """
    prompts: dict[str, list[BenchPrompt]] = {}
    for file in files:
        for prompt in load_prompts(file, "--prompts"):
            category = prompt.category or file.stem
            group = prompts.setdefault(category, [])
            if limit is None or len(group) < limit:
                name = f"{file.stem}/{prompt.id}"
                tokens = codec.encode_chat(prompt.messages)
                group.append(BenchPrompt(name, category, tokens))
    sources = tuple(
        PromptSet(file=f.name, sha256=sha256_file(f), count=len(load_prompts(f)))
        for f in files
    )
    grouped = {category: tuple(group) for category, group in prompts.items()}
    return Load(grouped, sources, output_tokens)


def open_all(
    artifacts: dict[str, Artifact], load: Load, batch: int, log: Callable[[str], None]
) -> tuple[list[Opened], dict[str, str]]:
    """Load every method around one target model; also why some cannot be.

    :param batch: requests that run at once.
    """
    opened: list[Opened] = []
    skipped: dict[str, str] = {}
    lender: SharingRunner | None = None
    for name, artifact in artifacts.items():
        try:
            _require_same_target(artifact, artifacts[OFF])
            runner = SharingRunner(_with_room(artifact, load, batch), lender)
        except TrtspecError as error:
            skipped[name] = reason(error)
            continue
        lender = lender or runner
        recipe = artifact.recipe.model_dump(mode="json", by_alias=True)
        subject = Subject(
            name=artifact.name, fingerprint=artifact.fingerprint, recipe=recipe
        )
        opened.append(Opened(name, subject, runner))
        log(f"{name} is loaded")
    return opened, skipped


def reason(error: TrtspecError) -> str:
    """Say in one line why a method is left out."""
    return " ".join(error.problems[0].what.split())


def _require_same_target(artifact: Artifact, off: Artifact) -> None:
    files = [
        {
            name: sha
            for name, sha in one.manifest.files.items()
            if name.startswith("target/")
        }
        for one in (artifact, off)
    ]
    if files[0] != files[1]:
        raise UsageError(f"its target model is not that of {OFF}")


def _with_room(artifact: Artifact, load: Load, batch: int) -> Artifact:
    """Give the recipe limits that hold the load: they decide memory, not speed."""
    limits = artifact.recipe.limits.model_copy(
        update={
            "max_batch_size": batch,
            "max_input_tokens": load.longest_prompt,
            "max_total_tokens": load.longest_prompt + load.output_tokens,
        }
    )
    recipe = artifact.recipe.model_copy(update={"limits": limits})
    return replace(artifact, recipe=recipe)
