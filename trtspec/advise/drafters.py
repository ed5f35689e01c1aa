"""Which drafters there are for a target: given, published, or inside its checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from trtspec.advise.published import methods_of_drafter
from trtspec.advise.target import Target, path_in_recipe, refuse_unwritable
from trtspec.errors import Problem, UsageError
from trtspec.methods.base import DrafterKind
from trtspec.methods.catalogue import METHODS
from trtspec.models.info import ModelInfo
from trtspec.models.inspection import inspect
from trtspec.models.locate import parse_reference

Origin = Literal["given", "published", "inside"]

_BY_FILE_NAMES: tuple[DrafterKind, ...] = ("model", "eagle3", "medusa", "redrafter")
"""Kinds that differ in the names of their files, by which a copy is found whole."""


@dataclass(frozen=True, slots=True)
class Drafter:
    """Something to draft with.

    :param model: what the recipe is to call it; None if it is the target's own.
    :param path: its directory; None if it is not on this machine.
    :param told_by: what says that it is for this method.
    :param info: what it is, if it is a model of its own that is here.
    :param backends: those that can load it; empty is all that run the method.
    """

    method: str
    model: str | None
    origin: Origin
    path: Path | None = None
    told_by: str = ""
    note: str = ""
    info: ModelInfo | None = None
    backends: tuple[str, ...] = ()

    @property
    def is_here(self) -> bool:
        """Whether it is on this machine, so that it can be looked at."""
        return self.path is not None or self.model is None

    @property
    def name(self) -> str:
        """How to speak of it."""
        return self.model or "the target's own checkpoint"


def find_drafters(
    target: Target, given: Sequence[str], base: Path, folder: Path
) -> tuple[Drafter, ...]:
    """Collect what can draft for a target, the given ones first.

    :param given: directories or Hugging Face ids.
    :param base: directory that relative names start from.
    :param folder: the one that the recipe will lie in.
    :raises UsageError: if a given one means nothing, or says not what it is.
    """
    named = [_given(text, base, folder) for text in given]
    return (*named, *_inside(target), *_published(target, base))


def _inside(target: Target) -> Iterator[Drafter]:
    info = target.info
    if info is None:
        return
    stored = info.stored_next_token_heads
    heads = info.next_token_heads if stored is None else stored
    if heads:
        told = f"the checkpoint holds {heads} next-token head{'s' * (heads > 1)} (MTP)"
        yield Drafter("mtp", None, "inside", told_by=told)


def _published(target: Target, base: Path) -> Iterator[Drafter]:
    for one in target.published.drafters if target.published else ():
        if one.model is None:
            if target.info is None:  # else its tensors have told
                yield Drafter(
                    one.method, None, "inside", told_by=one.source, note=one.note
                )
            continue
        kind = METHODS[one.method].drafter_kind or "model"
        found = parse_reference(one.model, None, base, "", kind, loader="reference")
        yield Drafter(
            method=one.method,
            model=one.model,
            origin="published",
            path=found.path,
            told_by=one.source,
            note=one.note,
            backends=one.backends,
        )


def _given(text: str, base: Path, folder: Path) -> Drafter:
    refuse_unwritable(text, "--draft")
    reference = parse_reference(text, None, base, "--draft", loader="reference")
    if reference.kind == "hub":
        return _given_by_id(text, base)
    if reference.path is None:  # the demo model, not downloaded
        return Drafter("draft_target", text, "given", told_by="it is a whole model")
    shown = text
    if reference.kind == "directory":
        shown = path_in_recipe(text, base, folder)
    method, told_by, info = _method_of(reference.path)
    return Drafter(method, shown, "given", reference.path, told_by, info=info)


def _given_by_id(text: str, base: Path) -> Drafter:
    """Look at a copy in the hub's cache, or else at the table of published ones."""
    for kind in _BY_FILE_NAMES:
        found = parse_reference(text, None, base, "--draft", kind, loader="reference")
        if found.path is not None:
            method, told_by, info = _method_of(found.path)
            return Drafter(method, text, "given", found.path, told_by, info=info)
    method_named = methods_of_drafter().get(text.lower())
    if method_named is None:
        raise UsageError(
            f"{text} is not on this machine, and it is not among the published "
            "drafters that trtspec knows: which method takes it cannot be told",
            where="--draft",
            allowed="a directory, or the id of a drafter that is here or is known",
            action=f"hf download {text}, then run this again",
        )
    return Drafter(method_named, text, "given", told_by="it is a published drafter")


def _method_of(directory: Path) -> tuple[str, str, ModelInfo | None]:
    """Tell which method takes a checkpoint, by its configuration and tensors.

    :returns: the method, what tells it, and what it is if it is a model.
    :raises UsageError: if nothing tells what it is.
    """
    found = inspect(directory)
    if found.kind is None:
        action = f"trtspec inspect {directory} shows what is there"
        problems = found.problems or (Problem("nothing tells what it drafts for"),)
        raise UsageError.from_problems(
            replace(p, where=p.where or str(directory), action=p.action or action)
            for p in problems
        )
    if found.kind != "model":
        return found.kind, found.told_by, None
    model = found.model or found.shape
    if model is not None and model.mask_token is not None:
        return "pard", f"it proposes for mask token {model.mask_token}", found.model
    return "draft_target", "it is a language model of its own", found.model
