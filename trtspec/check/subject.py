"""What the rules look at: a recipe, its models, and this machine."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from packaging.version import Version

from trtspec.errors import Problem
from trtspec.gpu_kinds import GpuKind
from trtspec.models.drafter import DrafterInfo
from trtspec.models.info import ModelInfo
from trtspec.recipe.schema import Recipe

Role = Literal["target", "draft"]
SECTION = {"target": "target", "draft": "speculation"}
"""Section of a recipe that names the model of a role."""


class Where(Protocol):
    """Gives the place of a key, such as ``where("limits", "max_total_tokens")``."""

    def __call__(self, *key: str | int) -> str:
        """Give file:line, or the key itself."""
        ...


def key_itself(*key: str | int) -> str:
    """Give the key with dots, for a recipe that comes from no file."""
    return ".".join(map(str, key))


@dataclass(frozen=True, slots=True)
class Subject:
    """All that the rules may look at.

    :param target: None if it is not known, with a finding that says why.
    :param draft: the same; also None if the method has no draft model of its own.
    :param base: directory that the recipe's paths start from; None for no file.
    :param missing: what the backend needs and does not find here.
    :param free_memory: bytes; None if it does not matter.
    :param drafter: what a method drafts with that has no draft model, such as Medusa
        heads; None if it is not known, or there is none.
    :param version: of TensorRT-LLM, for a backend of its; None if that is not known.
    :param gpus: that the recipe is to run on; empty if they are not known.
    """

    recipe: Recipe
    where: Where
    target: ModelInfo | None = None
    draft: ModelInfo | None = None
    base: Path | None = None
    missing: tuple[Problem, ...] = ()
    free_memory: int | None = None
    drafter: DrafterInfo | None = None
    version: Version | None = None
    gpus: tuple[GpuKind, ...] = ()

    @property
    def models(self) -> Iterable[tuple[Role, ModelInfo]]:
        """The models that are known, with their roles."""
        if self.target is not None:
            yield "target", self.target
        if self.draft is not None:
            yield "draft", self.draft

    def where_model(self, role: Role) -> str:
        """Place of the key that names a model."""
        return self.where(SECTION[role], "model")
