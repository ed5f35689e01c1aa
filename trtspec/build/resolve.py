"""Where the checkpoints are that a recipe names, and what is in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from trtspec.build.progress import Progress
from trtspec.build.sources import Role, Source, StageInputs
from trtspec.errors import UsageError
from trtspec.models.demo import DEMO
from trtspec.models.describe import describe
from trtspec.models.identity import file_hashes
from trtspec.models.locate import fetch, parse_reference
from trtspec.recipe.load import LoadedRecipe


def named(loaded: LoadedRecipe) -> StageInputs:
    """Find out what the recipe's references mean; nothing is downloaded.

    :raises UsageError: if a reference means nothing.
    """
    recipe = loaded.recipe
    target = _named(loaded, "target", recipe.target.model, recipe.target.revision)
    draft_model = recipe.speculation.draft_model
    if draft_model is None:
        return StageInputs(recipe, target)
    revision = getattr(recipe.speculation, "revision", None)
    return StageInputs(recipe, target, _named(loaded, "draft", draft_model, revision))


def _named(
    loaded: LoadedRecipe, role: Role, model: str, revision: str | None
) -> Source:
    section = {"target": "target", "draft": "speculation"}[role]
    where = loaded.where(section, "model")
    reference = parse_reference(model, revision, loaded.base, where)
    return Source(role, reference, reference.path)


def fetched(inputs: StageInputs, progress: Progress) -> StageInputs:
    """Download what is not on this machine yet.

    :raises UsageError: if a model cannot be had.
    """

    def fetch_one(source: Source) -> Source:
        return replace(source, directory=fetch(source.reference, progress.line))

    return _each(inputs, fetch_one)


def inspected(inputs: StageInputs) -> StageInputs:
    """Describe and hash the checkpoints, which are all on this machine.

    :raises UsageError: if one is incomplete, damaged or not a causal LM.
    """

    def inspect(source: Source) -> Source:
        assert source.directory is not None, "it was fetched"
        info = describe(source.directory)
        files = file_hashes(source.directory)
        if source.reference.kind == "demo" and files != _demo_files():
            raise UsageError(
                f"{source.directory} does not hold the demo model as it was published",
                allowed=f"{DEMO.gguf_name} with SHA-256 {DEMO.gguf_sha256}",
                action="delete that directory and run again",
            )
        return replace(source, info=info, files=files)

    return _each(inputs, inspect)


def inspected_without_fetching(inputs: StageInputs) -> StageInputs:
    """Describe and hash as far as that is quick and without a download.

    What stays unknown stays None: a model that is not here and not pinned, or large
    files that were never hashed.
    """

    def inspect(source: Source) -> Source:
        if source.directory is not None:
            files = file_hashes(source.directory, cached_only=True)
            return replace(source, info=describe(source.directory), files=files)
        if source.reference.kind == "demo":
            return replace(source, info=DEMO.info, files=_demo_files())
        return source

    return _each(inputs, inspect)


def _demo_files() -> dict[str, str]:
    return {DEMO.gguf_name: DEMO.gguf_sha256}


def _each(inputs: StageInputs, change: Callable[[Source], Source]) -> StageInputs:
    draft = None if inputs.draft is None else change(inputs.draft)
    return replace(inputs, target=change(inputs.target), draft=draft)
