"""What a checkpoint really is, told from its configuration and headers alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from trtspec.errors import Problem, UsageError
from trtspec.methods.base import DrafterKind
from trtspec.models.config import CONFIG, shape_of
from trtspec.models.describe import describe
from trtspec.models.drafter import DrafterInfo, describe_drafter
from trtspec.models.drafter_files import Loader
from trtspec.models.gguf import read_gguf
from trtspec.models.gguf_shape import gguf_shape
from trtspec.models.info import ModelInfo, ModelShape
from trtspec.models.inspection_facts import Fact, weight_facts
from trtspec.models.inspection_heads import head_facts
from trtspec.models.inspection_kind import Told, tell
from trtspec.models.inspection_model import model_facts
from trtspec.models.inspection_problems import (
    incomplete,
    repeats,
    unknown,
    without_rows,
)
from trtspec.models.json_file import read_json_object
from trtspec.models.parts import WHOLE
from trtspec.models.stored_files import stored_files
from trtspec.models.stored_record import StoredFiles, attempt

LOADERS: tuple[Loader, ...] = ("reference", "tensorrt_llm")


class Reading(NamedTuple):
    """What one loader reads a drafter as, or why it does not."""

    info: DrafterInfo | None
    problems: tuple[Problem, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspection:
    """What a directory holds.

    :param kind: what it drafts as, or ``model``; None if nothing tells.
    :param title: the same in words.
    :param told_by: what shows it.
    :param facts: in the order in which they are shown.
    :param problems: what is damaged, missing or not understood.
    :param shape: of a model, also where its weights are not whole.
    :param model: of a model that is whole.
    :param readings: of a drafter, by who loads it.
    """

    directory: Path | None
    kind: DrafterKind | None
    title: str
    told_by: str
    facts: tuple[Fact, ...] = ()
    problems: tuple[Problem, ...] = ()
    shape: ModelShape | None = None
    model: ModelInfo | None = None
    readings: Mapping[Loader, Reading] | None = None

    @property
    def drafter(self) -> DrafterInfo | None:
        """The drafter as its first reader has it; None if none reads it."""
        readings = (self.readings or {}).values()
        return next((found.info for found in readings if found.info), None)


def inspect(directory: Path) -> Inspection:
    """Tell what a directory holds; what is wrong with it becomes a problem.

    :raises UsageError: if it is no directory.
    """
    if not directory.is_dir():
        raise UsageError(
            f"{str(directory)!r} is not a directory",
            action="give the directory of a checkpoint",
        )
    stored = stored_files(directory)
    problems = list(stored.problems)
    config = _config(directory, stored, problems)
    told = tell(directory, config, stored)
    if told.kind in (None, "model"):
        return _model(directory, config, stored, told, problems)
    return _drafter(directory, config, stored, told, problems)


def known(info: ModelInfo, title: str) -> Inspection:
    """Tell what is known of a model that is not on this machine."""
    return Inspection(
        directory=None,
        kind="model",
        title=title,
        told_by="its facts are known before it is downloaded",
        facts=model_facts(info, info, None),
        shape=info,
        model=info,
    )


def _config(
    directory: Path, stored: StoredFiles, problems: list[Problem]
) -> dict[str, Any]:
    if stored.format == "gguf" and not (directory / CONFIG).is_file():
        return {}
    return attempt(lambda: read_json_object(directory / CONFIG), problems) or {}


def _model(
    directory: Path,
    config: Mapping[str, Any],
    stored: StoredFiles,
    told: Told,
    problems: list[Problem],
) -> Inspection:
    """Tell of a model, or of what nobody knows: then it is read as a model."""
    found: list[Problem] = []
    whole = stored.tensors if stored.is_as_indexed else None
    info = attempt(lambda: describe(directory, whole), found)
    shape: ModelShape | None = info
    if shape is None:
        shape = attempt(lambda: _shape(directory, config, stored), [])
    if told.kind is None:
        found = [unknown(directory, config, stored), *found]
    problems += [problem for problem in found if not repeats(problem, problems)]
    if info is not None:
        problems += without_rows(directory, info)
    facts = [*weight_facts(directory, config, stored, problems)]
    if shape is not None:
        facts += model_facts(shape, info, stored)
    return Inspection(
        directory=directory,
        kind=told.kind,
        title=told.title,
        told_by=told.by,
        facts=tuple(facts),
        problems=tuple(problems),
        shape=shape,
        model=info,
    )


def _shape(
    directory: Path, config: Mapping[str, Any], stored: StoredFiles
) -> ModelShape:
    if stored.format == "gguf" and stored.files:
        path = directory / stored.files[0]
        return gguf_shape(path, read_gguf(path))
    names = {*stored.tensors, *stored.missing_tensors, *stored.names}
    return shape_of(directory, config, names)


def _drafter(
    directory: Path,
    config: Mapping[str, Any],
    stored: StoredFiles,
    told: Told,
    problems: list[Problem],
) -> Inspection:
    kind = told.kind
    assert kind is not None, "what is of no kind is read as a model"
    readings = {loader: _reading(directory, kind, loader) for loader in LOADERS}
    if not any(reading.info for reading in readings.values()):
        told_first = readings[LOADERS[0]].problems
        problems += [p for p in told_first if not repeats(p, problems)]
    first = next((r.info for r in readings.values() if r.info), None)
    problems += incomplete(directory, first.parts if first else WHOLE)
    facts = [*weight_facts(directory, config, stored, problems)]
    facts += head_facts(kind, config, stored, first)
    return Inspection(
        directory=directory,
        kind=kind,
        title=told.title,
        told_by=told.by,
        facts=tuple(facts),
        problems=tuple(problems),
        readings=readings,
    )


def _reading(directory: Path, kind: DrafterKind, loader: Loader) -> Reading:
    problems: list[Problem] = []
    info = attempt(lambda: describe_drafter(directory, kind, loader), problems)
    return Reading(info, tuple(problems))
