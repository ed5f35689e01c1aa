"""What is known of a target before there is a recipe for it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trtspec.advise.published import PublishedTarget, published_for
from trtspec.errors import UsageError
from trtspec.models.demo import DEMO
from trtspec.models.describe import describe
from trtspec.models.info import ModelInfo
from trtspec.models.json_file import read_json_object
from trtspec.models.locate import ModelReference, parse_reference

_GENERATION = "generation_config.json"
_SAMPLING = ("temperature", "top_k", "top_p")


@dataclass(frozen=True, slots=True)
class Target:
    """A target model, as far as this machine knows it.

    :param text: what the recipe is to call it.
    :param info: None if the checkpoint is not here.
    :param published: what public documents name for it; None if it is not in the table.
    :param by_folder: whether only the name of its folder says so.
    :param sampling: what its ``generation_config.json`` asks for; empty for greedy.
    """

    text: str
    reference: ModelReference
    info: ModelInfo | None
    published: PublishedTarget | None
    by_folder: bool
    sampling: Mapping[str, float]

    @property
    def family(self) -> str | None:
        """``model_type`` of the configuration, as far as it is known."""
        if self.info is not None:
            return self.info.family
        return self.published.family if self.published else None

    @property
    def name(self) -> str:
        """What to name a recipe after."""
        if self.reference.kind == "demo":
            return DEMO.name
        if self.reference.kind == "hub" or self.reference.path is None:
            return self.reference.text.rpartition("/")[2]
        return self.reference.path.resolve().name


def look_at(text: str, base: Path, folder: Path) -> Target:
    """Find and describe a target; downloads nothing.

    :param text: a directory, a Hugging Face id or ``demo:...``.
    :param base: directory that a relative name starts from.
    :param folder: the one that the recipe will lie in.
    :raises UsageError: if the name means nothing, or the checkpoint is damaged.
    """
    refuse_unwritable(text, "TARGET")
    reference = parse_reference(text, None, base, "TARGET")
    path, kind = reference.path, reference.kind
    known = published_for(path.resolve().name if kind == "directory" and path else text)
    return Target(
        text=_in_recipe(reference, base, folder),
        reference=reference,
        info=_info(reference),
        published=known,
        by_folder=kind == "directory",
        sampling=_sampling(path) if path else {},
    )


def refuse_unwritable(text: str, where: str) -> None:
    """Refuse a name that a recipe cannot hold: an empty one, or bytes that are no text.

    :raises UsageError: saying which.
    """
    if not text:
        raise UsageError("an empty name names nothing", where=where)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise UsageError(
            f"the name {text!a} is not UTF-8, and a recipe is",
            where=where,
            action="rename it",
        ) from None


def path_in_recipe(text: str, base: Path, folder: Path) -> str:
    """Write a path as a recipe in another folder has to.

    :param base: directory that it starts from now.
    :param folder: the recipe's.
    """
    if os.path.isabs(text) or text.startswith("~"):
        return text
    relative = os.path.relpath(base / text, folder)
    return relative if relative.startswith("..") else f"./{relative}"


def _in_recipe(reference: ModelReference, base: Path, folder: Path) -> str:
    if reference.kind != "directory":
        return reference.text
    return path_in_recipe(reference.text, base, folder)


def _info(reference: ModelReference) -> ModelInfo | None:
    if reference.path is not None:
        return describe(reference.path)
    return DEMO.info if reference.kind == "demo" else None


def _sampling(directory: Path) -> dict[str, float]:
    """Read the sampling that the publisher recommends; empty if it is greedy."""
    path = directory / _GENERATION
    try:
        content: Mapping[str, Any] = read_json_object(path) if path.is_file() else {}
    except UsageError:
        return {}  # the recipe does without it
    if content.get("do_sample") is not True:
        return {}
    values = {key: content.get(key) for key in _SAMPLING}
    return {
        k: v for k, v in values.items() if type(v) in (int, float) and v is not None
    }
