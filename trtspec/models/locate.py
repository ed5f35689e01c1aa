"""Where the model is that a recipe names: a directory, the hub, or the demo model."""

from __future__ import annotations

import os
import re
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
_LONGEST = 200
_HUB = re.compile(r"https?://(?:www\.)?(?:huggingface\.co|hf\.co)/([^/]+/[^/?#]+)")


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
    # os.path, as Path.is_dir raises for a name that is too long
    if os.path.isdir(directory):
        return ModelReference(
            "directory", text, revision, directory, checkpoint, loader
        )
    if os.path.exists(directory):
        raise UsageError(
            f"model {_quoted(text)} is a file",
            where=where,
            allowed=_allowed(where),
            action="name the directory that holds it",
        )
    if _means_a_directory(text) or not is_hub_id(text):
        raise _meaningless(text, directory, where)
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
            f"{_quoted(text)} is a whole model, no drafter for method {checkpoint}",
            where=where,
            allowed=f"{_directory(where)}, or a Hugging Face id",
            action=f"name a checkpoint for method {checkpoint}, or use draft_target",
        )
    if text != _DEMO + DEMO.name:
        raise UsageError(
            f"there is no demo model {_quoted(text)}",
            where=where,
            allowed=_DEMO + DEMO.name,
            action=_write(_DEMO + DEMO.name, where),
        )
    return ModelReference(
        "demo", text, revision, DEMO.directory if DEMO.is_here else None
    )


def _meaningless(text: str, directory: Path, where: str) -> UsageError:
    """Say that a name means nothing, and what may have been meant."""
    what = f"model {_quoted(text)}: there is no directory {_cut(str(directory))}"
    if not _means_a_directory(text):
        what += ", and it is no Hugging Face id"
    if on_hub := _HUB.match(text):
        what = f"model {_quoted(text)} is an address, not a Hugging Face id"
        action = _write(on_hub[1], where)
    elif "://" in text:
        what = f"model {_quoted(text)} is an address"
        action = "download what is there, and name its directory"
    elif "$" in text:
        action = "write the directory itself: ~ is expanded, variables are not"
    else:
        action = _near(text, directory, where) or "correct the path"
    return UsageError(what, where=where, allowed=_allowed(where), action=action)


def _near(text: str, directory: Path, where: str) -> str:
    """Name a directory beside the one that is not there; empty if none is alike."""
    try:
        names = sorted(p.name for p in directory.parent.iterdir() if p.is_dir())
    except OSError:
        return ""
    near = get_close_matches(directory.name, names, n=1)
    before = text.rstrip("/").removesuffix(directory.name)
    return _write(f"{before}{near[0]}", where) if near else ""


def _write(name: str, where: str) -> str:
    """Say what to write in the place that a name came from: a recipe, or a command."""
    return f"write model: {name}" if _is_recipe(where) else f"write {name}"


def _allowed(where: str) -> str:
    demo = f"or {_DEMO}{DEMO.name}"
    return f"{_directory(where)}, a Hugging Face id such as org/name, {demo}"


def _directory(where: str) -> str:
    return f"a directory{' (relative to the recipe)' * _is_recipe(where)}"


def _is_recipe(where: str) -> bool:
    """Whether a place is one in a file, file:line, and no argument such as MODEL."""
    return ":" in where


def _quoted(text: str) -> str:
    return repr(_cut(text))


def _cut(text: str) -> str:
    """Shorten what could fill a screen; paths are longer than other values."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _means_a_directory(text: str) -> bool:
    return text.startswith(("/", "~", "./", "../")) or text in (".", "..")


def _expand(text: str, base: Path) -> Path:
    try:
        return base / Path(text).expanduser()
    except RuntimeError:  # ~name of a user that does not exist
        return base / text
