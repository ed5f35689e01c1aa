"""How one stage would be treated by build: run or reused, where, with which command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from trtspec.build.command_line import resolved
from trtspec.build.hashes import missing_files
from trtspec.build.locks import stages_directory
from trtspec.build.manifest import Manifest
from trtspec.build.stage import Stage
from trtspec.build.store import StageStore

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
    :param texts: content of files that it would write, by name.
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
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Places:
    """Where the outputs of stages are, or would be.

    :param known: whether the keys of the stages are final.
    """

    engines: Path
    known: bool

    def output(self, stage: Stage) -> str:
        """Give the folder that a stage fills."""
        label = stage.label if self.known else stage.name
        return str(stages_directory(self.engines) / label / "output")

    def of(self, stage: Stage) -> dict[str, str]:
        """Say what the places in the stage's command stand for."""
        used = {earlier.name: self.output(earlier) for earlier in stage.uses}
        return {**stage.paths, **used, "output": self.output(stage)}


def described_stage(
    stage: Stage, action: Action, needs_bytes: int, place: Places
) -> PlannedStage:
    """Plan a stage of which it is known whether it would be run.

    :param needs_bytes: disk space that it would take.
    """
    planned = PlannedStage(
        stage.name,
        action,
        stage.summary,
        stage.all_inputs,
        needs_bytes,
        output=place.output(stage),
        texts=dict(stage.texts),
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


def planned_stage(
    stage: Stage, store: StageStore, there: Manifest | None, place: Places
) -> PlannedStage:
    """Plan a stage whose key is final: it is reused if it is kept anywhere.

    :param there: the manifest of the artifact, if it is complete.
    """
    kept = store.find(stage)
    done = kept is not None and not missing_files(kept.output, kept.record.outputs)
    done = done or any(s.key == stage.key for s in (there.stages if there else ()))
    needs_bytes = 0 if done else stage.needs_bytes
    return described_stage(stage, "reuse" if done else "run", needs_bytes, place)
