"""Where the checkpoints are that a recipe names, and what is in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from trtspec.build.progress import SILENT, Progress
from trtspec.build.sources import Role, Source, StageInputs
from trtspec.build.space import human_bytes
from trtspec.build.unhashed import checkpoint_bytes, hashing_line
from trtspec.errors import UsageError
from trtspec.methods.base import DrafterKind
from trtspec.models.demo import DEMO
from trtspec.models.describe import describe
from trtspec.models.drafter import DrafterInfo, describe_drafter
from trtspec.models.drafter_files import loader_of
from trtspec.models.identity import file_hashes
from trtspec.models.info import ModelInfo
from trtspec.models.locate import ModelReference, fetch, parse_reference
from trtspec.recipe.load import LoadedRecipe


def named(loaded: LoadedRecipe) -> StageInputs:
    """Find out what the recipe's references mean; nothing is downloaded.

    :raises UsageError: if a reference means nothing.
    """
    recipe = loaded.recipe
    model, revision = recipe.target.model, recipe.target.revision
    target = _named(loaded, "target", model, revision, "model")
    draft_model = recipe.speculation.draft_model
    if draft_model is None:
        return StageInputs(recipe, target, base=loaded.base)
    revision = getattr(recipe.speculation, "revision", None)
    kind = recipe.speculation.drafter_kind or "model"
    draft = _named(loaded, "draft", draft_model, revision, kind)
    return StageInputs(recipe, target, draft, loaded.base)


def _named(
    loaded: LoadedRecipe,
    role: Role,
    model: str,
    revision: str | None,
    kind: DrafterKind,
) -> Source:
    section = {"target": "target", "draft": "speculation"}[role]
    where = loaded.where(section, "model")
    loader = loader_of(loaded.recipe.backend)
    reference = parse_reference(
        model, revision, loaded.base, where, kind, loader=loader
    )
    return Source(role, reference, reference.path, kind=kind)


def fetched(inputs: StageInputs, progress: Progress) -> StageInputs:
    """Download what is not on this machine yet.

    :raises UsageError: if a model cannot be had.
    """

    def fetch_one(source: Source) -> Source:
        return replace(source, directory=fetch(source.reference, progress.line))

    return _each(inputs, fetch_one)


def inspected(inputs: StageInputs, progress: Progress = SILENT) -> StageInputs:
    """Describe and hash the checkpoints, which are all on this machine.

    :param progress: told if hashing takes long, as it does once on each machine.
    :raises UsageError: if one is incomplete, damaged or not what it is named as:
        a causal LM, or a drafter of the method.
    """

    def inspect(source: Source) -> Source:
        assert source.directory is not None, "it was fetched"
        info = _described(source.directory, source.reference)
        files = _hashed(source.directory, source.reference, progress)
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
            kind, loader = source.kind, source.reference.loader
            files = file_hashes(source.directory, kind, loader, cached_only=True)
            info = _described(source.directory, source.reference)
            return replace(source, info=info, files=files)
        if source.reference.kind == "demo":
            return replace(source, info=DEMO.info, files=_demo_files())
        return source

    return _each(inputs, inspect)


def _hashed(
    directory: Path, reference: ModelReference, progress: Progress
) -> dict[str, str]:
    kind, loader = reference.checkpoint, reference.loader
    known = file_hashes(directory, kind, loader, cached_only=True)
    if known is None:
        size = checkpoint_bytes(directory, kind, loader)
        progress.line(hashing_line(f"hashing {human_bytes(size)} in {directory}"))
        known = file_hashes(directory, kind, loader)
    return known


def _described(directory: Path, reference: ModelReference) -> ModelInfo | DrafterInfo:
    if reference.checkpoint == "model":
        return describe(directory)
    return describe_drafter(directory, reference.checkpoint, reference.loader)


def _demo_files() -> dict[str, str]:
    return {DEMO.gguf_name: DEMO.gguf_sha256}


def _each(inputs: StageInputs, change: Callable[[Source], Source]) -> StageInputs:
    draft = None if inputs.draft is None else change(inputs.draft)
    return replace(inputs, target=change(inputs.target), draft=draft)
