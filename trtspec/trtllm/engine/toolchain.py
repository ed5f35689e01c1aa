"""Which programs of TensorRT-LLM make an engine here, and what each of them takes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from trtspec.build.command_line import Command, slot
from trtspec.errors import BuildError
from trtspec.trtllm import facts
from trtspec.trtllm.examples import IMAGE_FOLDER, script_flags
from trtspec.trtllm.installation import Installation

PYTHON, SCRIPT, BUILDER = "python", "script", "trtllm-build"
Argument = str | int | float


@dataclass(frozen=True, slots=True)
class Toolchain:
    """The builder and the example scripts of one installation.

    :param installation: must have, or be assumed to have, the engine backend.
    """

    installation: Installation

    @property
    def version(self) -> Version:
        """The version of TensorRT-LLM."""
        assert self.installation.version is not None, "it was required before"
        return self.installation.version

    def builder_command(self, arguments: Sequence[Argument]) -> Command:
        """Give a call of trtllm-build.

        :raises BuildError: if this version does not take one of the arguments.
        """
        written = tuple(map(str, arguments))
        self._require_known("trtllm-build", written)
        return Command((slot(BUILDER), *written))

    def script_command(
        self, program: facts.Program, arguments: Sequence[Argument]
    ) -> Command:
        """Give a call of an example script, whose path is the place ``{script}``.

        :raises BuildError: if this version does not take one of the arguments.
        """
        written = tuple(map(str, arguments))
        self._require_known(program, written)
        self._require_defined(program, written)
        return Command((slot(PYTHON), slot(SCRIPT), *written))

    def script(self, program: facts.Program) -> Path:
        """Give an example script: the one found, or where the image would have it.

        :raises BuildError: if this version has no such script.
        """
        relative = facts.script_path(program, self.version)
        if relative is None:
            raise self._no_script(program)
        examples = self.installation.examples
        if examples is None or examples.assumed:
            return (examples.root if examples else IMAGE_FOLDER) / relative
        return examples.script(program, self.version)

    def _no_script(self, program: facts.Program) -> BuildError:
        """Of release candidates less is established than of what became of them."""
        if self.version.is_prerelease:
            return BuildError(
                f"no script is established for {program} in this release candidate "
                f"({self.version})",
                action="choose a final release",
            )
        return BuildError(
            f"TensorRT-LLM {self.version} has no script to convert for {program}",
            action="choose another version or method",
        )

    def paths(self, program: facts.Program) -> dict[str, str]:
        """Say what the places of a command stand for here."""
        if program == facts.BUILDER:
            return {BUILDER: str(self.installation.builder or BUILDER)}
        python = "python3" if self.installation.assumed else sys.executable
        return {PYTHON: python, SCRIPT: str(self.script(program))}

    def takes(self, program: facts.Program, flag: str) -> bool:
        """Whether a program has a flag: by its script if it is here, else by facts."""
        here = self._defined(program)
        return flag in (facts.flags(program, self.version) if here is None else here)

    def _require_known(self, program: facts.Program, arguments: Sequence[str]) -> None:
        known = facts.flags(program, self.version)
        for flag, values in _flags_and_values(arguments):
            fact = known.get(flag)
            if fact is None:
                raise BuildError(
                    f"{program} of TensorRT-LLM {self.version} has no flag {flag}",
                    where=program,
                    allowed=", ".join(known),
                    action="choose a version that has it, or a recipe without it",
                )
            if fault := value_fault(fact, values):
                raise BuildError(
                    f"{flag} {' '.join(values)}: {fault}",
                    where=f"{program} of TensorRT-LLM {self.version}",
                )

    def _require_defined(
        self, program: facts.Program, arguments: Sequence[str]
    ) -> None:
        """Hold the flags against the very script that will run."""
        defined = self._defined(program)
        if defined is None:
            return
        missing = [f for f, _ in _flags_and_values(arguments) if f not in defined]
        if missing:
            raise BuildError(
                f"{self.script(program)} does not define {', '.join(missing)}",
                action="use the examples folder of the installed version "
                f"({self.version}): --examples DIR",
            )

    def _defined(self, program: facts.Program) -> frozenset[str] | None:
        """Flags in the text of the script; None where it is not at hand."""
        examples = self.installation.examples
        if program == facts.BUILDER or examples is None or examples.assumed:
            return None
        return frozenset(script_flags(self.script(program)))


def _flags_and_values(arguments: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    starts = [i for i, text in enumerate(arguments) if text.startswith("--")]
    for start, end in zip(starts, [*starts[1:], len(arguments)], strict=True):
        yield arguments[start], list(arguments[start + 1 : end])


def value_fault(fact: facts.Flag, values: Sequence[str]) -> str:
    """Say what keeps a flag's values from being accepted; empty if nothing does."""
    if fact.kind == "switch":
        return "takes no value" if values else ""
    if not values:
        return "needs a value"
    if fact.choices is not None and values[0] not in fact.choices:
        return f"allowed: {', '.join(fact.choices)}"
    number = {"int": int, "float": float}.get(fact.kind)
    try:
        if number is not None:
            number(values[0])
    except ValueError:
        return f"needs a number of kind {fact.kind}"
    return ""
