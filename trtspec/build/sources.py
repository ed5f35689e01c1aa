"""Which checkpoints a build starts from, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trtspec.methods.base import DrafterKind
from trtspec.models.drafter import DrafterInfo
from trtspec.models.info import ModelInfo
from trtspec.models.locate import ModelReference
from trtspec.recipe.schema import Recipe

Role = Literal["target", "draft"]


@dataclass(frozen=True, slots=True)
class Source:
    """One checkpoint.

    :param directory: where it is on this machine; None if it is not here yet.
    :param info: what it is: a drafter if ``kind`` is not "model"; None if it is not
        here yet.
    :param files: sha256 of the files that decide; None if that is not known yet.
    :param kind: what it is a checkpoint of: a model, or a method's drafter.
    """

    role: Role
    reference: ModelReference
    directory: Path | None = None
    info: ModelInfo | DrafterInfo | None = None
    files: Mapping[str, str] | None = None
    kind: DrafterKind = "model"

    @property
    def format(self) -> str | None:
        """How its weights are stored, as ``Format`` names it; None if not known."""
        if self.info is not None:
            return self.info.format
        is_gguf = any(name.endswith(".gguf") for name in self.files or {})
        return "gguf" if is_gguf else None


@dataclass(frozen=True, slots=True)
class StageInputs:
    """What the stages of a build are planned from.

    :param draft: draft model or drafter; None if the speculation method has neither.
    :param base: directory that the recipe's paths start from; None for no file.
    :param ignored: rules in spite of whose findings to go on, in order.
    """

    recipe: Recipe
    target: Source
    draft: Source | None = None
    base: Path | None = None
    ignored: tuple[str, ...] = ()

    @property
    def sources(self) -> tuple[Source, ...]:
        """The checkpoints that the build starts from."""
        return (self.target,) if self.draft is None else (self.target, self.draft)

    @property
    def formats(self) -> frozenset[str]:
        """The formats of the checkpoints, as far as they are known."""
        return frozenset(s.format for s in self.sources if s.format is not None)

    @property
    def files(self) -> dict[str, Mapping[str, str]]:
        """The files of each checkpoint by role; one that is not known is absent."""
        return {s.role: s.files for s in self.sources if s.files is not None}
