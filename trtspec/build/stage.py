"""What is one step of a build: what decides its output, and how it is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trtspec.build.command_line import Command
from trtspec.build.progress import SILENT, Progress
from trtspec.files import sha256_json

KEY_DIGITS = 12
"""Hexadecimal digits of a key or fingerprint that a folder's name bears."""


@dataclass(frozen=True, slots=True)
class StageContext:
    """What a stage's action gets.

    :param output: an empty folder to fill.
    :param inputs: the outputs of the stages that it uses, by stage name.
    :param log_file: where details go; the terminal stays quiet.
    """

    output: Path
    inputs: Mapping[str, Path]
    log_file: Path
    progress: Progress = SILENT

    def log(self, text: str) -> None:
        """Add one line to the stage's log."""
        with self.log_file.open("a", encoding="utf-8") as stream:
            stream.write(f"{text}\n")


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of a build.

    :param name: names it to people and in folder names.
    :param version: raised whenever the action would make something else of the same
        inputs.
    :param inputs: everything that decides the output, but for the stages it uses.
    :param action: fills ``StageContext.output``; the same inputs give the same bytes.
    :param summary: what it does, one line each, for ``plan``.
    :param needs_bytes: disk space that it takes.
    :param uses: earlier stages whose outputs it reads.
    :param folder: the artifact's folder that shows its output; empty if none does.
    :param command: the program that it runs; None if it is done by trtspec itself.
    :param paths: what the command's places stand for, but for outputs of stages.
    :param texts: content of files that it writes, by name, for ``plan``.
    """

    name: str
    version: int
    inputs: Mapping[str, str]
    action: Callable[[StageContext], None] = field(compare=False)
    summary: tuple[str, ...] = ()
    needs_bytes: int = 0
    uses: tuple[Stage, ...] = ()
    folder: str = ""
    command: Command | None = None
    paths: Mapping[str, str] = field(default_factory=dict, compare=False)
    texts: Mapping[str, str] = field(default_factory=dict, compare=False)

    @property
    def all_inputs(self) -> dict[str, str]:
        """What decides the output, the keys of the stages it uses included."""
        return {**self.inputs, **{stage.name: stage.key for stage in self.uses}}

    @property
    def key(self) -> str:
        """The hash of what decides the output; 64 hexadecimal digits."""
        return sha256_json(
            {"stage": self.name, "version": self.version, "inputs": self.all_inputs}
        )

    @property
    def label(self) -> str:
        """The stage's folder name, and its lock's."""
        return f"{self.name}-{self.key[:KEY_DIGITS]}"
