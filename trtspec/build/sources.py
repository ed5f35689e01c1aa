"""Which checkpoints a build starts from, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trtspec.models.info import ModelInfo
from trtspec.models.locate import ModelReference
from trtspec.recipe.schema import Recipe

Role = Literal["target", "draft"]


@dataclass(frozen=True, slots=True)
class Source:
    """One checkpoint.

    :param directory: where it is on this machine; None if it is not here yet.
    :param info: what it is; None if it is not here yet.
    :param files: sha256 of the files that decide; None if that is not known yet.
    """

    role: Role
    reference: ModelReference
    directory: Path | None = None
    info: ModelInfo | None = None
    files: Mapping[str, str] | None = None

    @property
    def format(self) -> str | None:
        """How its weights are stored: "safetensors", "gguf", or not known yet."""
        if self.info is not None:
            return self.info.format
        is_gguf = any(name.endswith(".gguf") for name in self.files or {})
        return "gguf" if is_gguf else None


@dataclass(frozen=True, slots=True)
class StageInputs:
    """What the stages of a build are planned from.

    :param draft: None if the speculation method has no draft model.
    """

    recipe: Recipe
    target: Source
    draft: Source | None = None

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
