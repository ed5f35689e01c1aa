"""Where the model is that a recipe names: a directory, the hub, or the demo model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from trtspec.errors import UsageError
from trtspec.methods.base import DrafterKind
from trtspec.models.demo import DEMO
from trtspec.models.demo_fetch import fetch_demo
from trtspec.models.drafter_files import Loader
from trtspec.models.hub import cached_snapshot, download_snapshot, is_hub_id

_DEMO = "demo:"
_ALLOWED = (
    "a directory (relative to the recipe), a Hugging Face id such as org/name, "
    f"or {_DEMO}{DEMO.name}"
)


@dataclass(frozen=True, slots=True)
class ModelReference:
    """A model as a recipe names it.

    :param text: the name in the recipe.
    :param path: the local directory; None if it is known but not downloaded yet.
    :param checkpoint: what it is a checkpoint of: a model, or a method's drafter.
    :param loader: who loads it, if it is a drafter.
    """

    kind: Literal["directory", "hub", "demo"]
    text: str
    revision: str | None
    path: Path | None
    checkpoint: DrafterKind = "model"
    loader: Loader = "tensorrt_llm"


def parse_reference(
    text: str,
    revision: str | None,
    base: Path,
    where: str = "",
    checkpoint: DrafterKind = "model",
    *,
    loader: Loader = "tensorrt_llm",
) -> ModelReference:
    """Tell what a model name means; looks at this machine only.

    A name that starts with ``./``, ``../``, ``/`` or ``~`` is a directory; so is any
    other name that exists as one.

    :param base: directory that relative names start from: the recipe's.
    :param where: file:line of the name, for messages.
    :param checkpoint: what it is a checkpoint of: a model, or a method's drafter.
    :param loader: who loads it, if it is a drafter.
    :raises UsageError: if the directory does not exist, or the name means nothing.
    """
    if text.startswith(_DEMO):
        return _demo(text, revision, where, checkpoint)
    directory = _expand(text, base)
    if directory.is_dir():
        return ModelReference(
            "directory", text, revision, directory, checkpoint, loader
        )
    if directory.exists():
        raise UsageError(
            f"model {text!r} is a file",
            where=where,
            allowed=_ALLOWED,
            action="name the directory that holds it",
        )
    if _means_a_directory(text) or not is_hub_id(text):
        hub = "" if _means_a_directory(text) else ", and it is no Hugging Face id"
        raise UsageError(
            f"model {text!r}: there is no directory {directory}{hub}",
            where=where,
            allowed=_ALLOWED,
            action=_near(text, directory) or "correct the path",
        )
    path = cached_snapshot(text, revision, checkpoint, loader)
    return ModelReference("hub", text, revision, path, checkpoint, loader)


def fetch(reference: ModelReference, progress: Callable[[str], None]) -> Path:
    """Give a model's local directory; downloads the model if it is not here.

    :param progress: is told what is downloaded and how large it is.
    :raises UsageError: if the model cannot be had, with the ways out.
    """
    if reference.kind == "demo":
        return fetch_demo(progress)
    if reference.path is not None:
        return reference.path
    name, revision = reference.text, reference.revision
    kind, loader = reference.checkpoint, reference.loader
    cached = cached_snapshot(name, revision, kind, loader)
    return cached or download_snapshot(name, revision, progress, kind, loader)


def _demo(
    text: str, revision: str | None, where: str, checkpoint: DrafterKind
) -> ModelReference:
    if checkpoint != "model":
        raise UsageError(
            f"{text!r} is a whole model, no drafter for method {checkpoint}",
            where=where,
            allowed="a directory (relative to the recipe), or a Hugging Face id",
        )
    if text != _DEMO + DEMO.name:
        raise UsageError(
            f"there is no demo model {text!r}", where=where, allowed=_DEMO + DEMO.name
        )
    return ModelReference(
        "demo", text, revision, DEMO.directory if DEMO.is_here else None
    )


def _near(text: str, directory: Path) -> str:
    """Name a directory beside the one that is not there; empty if none is alike."""
    try:
        names = sorted(p.name for p in directory.parent.iterdir() if p.is_dir())
    except OSError:
        return ""
    near = get_close_matches(directory.name, names, n=1)
    before = text.rstrip("/").removesuffix(directory.name)
    return f"write model: {before}{near[0]}" if near else ""


def _means_a_directory(text: str) -> bool:
    return text.startswith(("/", "~", "./", "../")) or text in (".", "..")


def _expand(text: str, base: Path) -> Path:
    try:
        return base / Path(text).expanduser()
    except RuntimeError:  # ~name of a user that does not exist
        return base / text
