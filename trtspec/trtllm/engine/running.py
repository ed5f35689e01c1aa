"""How a stage of an engine build runs its program, and judges what it wrote."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from trtspec.build.command import CommandError, run_command
from trtspec.build.command_line import Command, resolved
from trtspec.build.stage import StageContext
from trtspec.trtllm.engine.failures import explained
from trtspec.trtllm.engine.readback import Expected, require_as_planned, require_ranks
from trtspec.trtllm.facts.records import Phase


@dataclass(frozen=True, slots=True)
class ProgramRun:
    """One program of a build, to be run with ``StageContext``: a stage's action.

    :param name: of the stage.
    :param paths: what the command's places stand for, but for outputs of stages.
    :param wanted: what the config.json that it writes must say.
    :param version: of TensorRT-LLM.
    """

    name: str
    command: Command
    paths: Mapping[str, str]
    wanted: tuple[Expected, ...]
    version: Version

    @property
    def phase(self) -> Phase:
        """The kind of program, by the stage's name."""
        phases: tuple[Phase, ...] = ("convert", "quantize", "build")
        return next(phase for phase in phases if self.name.startswith(phase))

    def __call__(self, context: StageContext) -> None:
        """Run it, then read back what it wrote.

        :raises BuildError: if it fails, or wrote something else than was planned.
        """
        self._run(context)

        def tell(line: str) -> None:
            context.log(line)
            context.progress.line(line)

        require_as_planned(context.output, self.wanted, tell, context.log_file)
        suffix = ".engine" if self.phase == "build" else ".safetensors"
        require_ranks(context.output, suffix, context.log_file)

    def _run(self, context: StageContext) -> None:
        here = {
            **self.paths,
            "output": str(context.output.absolute()),
            **{name: str(path.absolute()) for name, path in context.inputs.items()},
        }
        own = {"PYTHONUNBUFFERED": "1", **self.command.environment}
        # the builder leaves its timing cache where it runs
        folder = Path(resolved(self.command.directory, here)).parent
        try:
            run_command(
                self.command.resolved(here),
                log_file=context.log_file,
                writes_to=context.output,
                environment={**os.environ, **own},
                directory=folder,
                watch=lambda line: context.progress.status(f"{self.name}: {line}"),
                notes_in=context.output.parent,
            )
        except CommandError as error:
            raise explained(error, self.phase, self.version) from error
