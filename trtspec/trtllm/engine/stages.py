"""The stages of an engine build: convert, quantize, compile, and the tokenizer."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from trtspec.build.artifact import DRAFT, TARGET
from trtspec.build.command import Command, CommandError, resolved, run_command
from trtspec.build.sources import Source, StageInputs
from trtspec.build.stage import Stage, StageContext
from trtspec.errors import BuildError
from trtspec.methods import DraftTarget
from trtspec.models.info import DTYPE_BYTES, ModelInfo
from trtspec.recipe.schema import Recipe
from trtspec.trtllm import facts
from trtspec.trtllm.engine import expected
from trtspec.trtllm.engine.compile import draft_command, target_command
from trtspec.trtllm.engine.convert import (
    Conversion,
    draft_conversion,
    target_conversions,
)
from trtspec.trtllm.engine.failures import explained
from trtspec.trtllm.engine.readback import Expected, require_as_planned, require_ranks
from trtspec.trtllm.engine.sizes import EngineSizes, draft_sizes, target_sizes
from trtspec.trtllm.engine.tokenizer import tokenizer_stage
from trtspec.trtllm.engine.toolchain import Toolchain
from trtspec.trtllm.examples import script_sha256
from trtspec.trtllm.facts.records import Stage as Failing

COMMAND_VERSION = 1
"""Raised when the same command on the same inputs would be judged in another way."""

BUILD_TARGET, BUILD_DRAFT = "build-target", "build-draft"

_PACKED = {"fp8": 1.0, "int8_sq": 1.0, "int8_wo": 1.0, "nvfp4": 0.6, "int4_awq": 0.6}
"""Bytes per weight with its scales, roughly: it only guards against a full disk."""


def engine_stages(tools: Toolchain, inputs: StageInputs) -> tuple[Stage, ...]:
    """Plan the stages; what is not known of a checkpoint yet is left out of the keys.

    :raises BuildError: if this version of TensorRT-LLM has no way for the recipe.
    """
    planner = _Planner(tools, inputs)
    stages = [tokenizer_stage(inputs.target), *planner.target()]
    if isinstance(inputs.recipe.speculation, DraftTarget):
        stages += planner.draft()
    return tuple(stages)


@dataclass(frozen=True, slots=True)
class _Planner:
    tools: Toolchain
    inputs: StageInputs

    @property
    def recipe(self) -> Recipe:
        return self.inputs.recipe

    def target(self) -> list[Stage]:
        sizes, recipe = target_sizes(self.recipe), self.recipe
        family = family_of(self.inputs.target, recipe.target.family, "target.family")
        converted: list[Stage] = []
        for conversion in target_conversions(self.tools, recipe, family):
            is_last = not conversion.stage.endswith("-base")
            wanted = (
                expected.target_checkpoint(recipe)
                if is_last
                else expected.base_checkpoint(recipe)
            )
            used = tuple(s for s in converted if s.name == conversion.uses)
            converted.append(self._conversion(conversion, wanted, used, "target"))
        last = converted[-1]
        command = target_command(self.tools, recipe, sizes, last.name)
        wanted = expected.target_engine(recipe, sizes, str(self.tools.version))
        summary = f"compile the target engine: {_sized(sizes)}"
        return [
            *converted,
            self._build(
                BUILD_TARGET,
                command,
                wanted,
                checkpoint=last,
                folder=TARGET,
                summary=summary,
            ),
        ]

    def draft(self) -> list[Stage]:
        sizes, recipe = draft_sizes(self.recipe), self.recipe
        method, source = recipe.speculation, self.inputs.draft
        assert isinstance(method, DraftTarget), "only draft_target has a draft model"
        assert source is not None, "draft_target names a draft model"
        family = family_of(source, method.family, "speculation.family")
        conversion = draft_conversion(self.tools, recipe, family)
        wanted = expected.draft_checkpoint(recipe)
        converted = self._conversion(conversion, wanted, (), "draft")
        command = draft_command(self.tools, recipe, sizes, converted.name)
        wanted = expected.draft_engine(recipe, sizes, str(self.tools.version))
        summary = f"compile the draft engine: {_sized(sizes)}"
        built = self._build(
            BUILD_DRAFT,
            command,
            wanted,
            checkpoint=converted,
            folder=DRAFT,
            summary=summary,
        )
        return [converted, built]

    def _conversion(
        self,
        conversion: Conversion,
        wanted: tuple[Expected, ...],
        used: tuple[Stage, ...],
        role: str,
    ) -> Stage:
        sources = [s for s in self.inputs.sources if _reads(conversion.command, s)]
        paths = self.tools.paths(conversion.program)
        paths |= {s.role: str(s.directory or s.reference.text) for s in sources}
        inputs = {
            **self._versions(),
            "script": self._script_digest(conversion.program),
            **{
                f"file {source.role}/{name}": digest
                for source in sources
                for name, digest in (source.files or {}).items()
            },
        }
        return self._stage(
            conversion.stage,
            conversion.command,
            inputs,
            partial(self._run, conversion.stage, conversion.command, paths, wanted),
            summary=conversion.summary,
            uses=used,
            paths=paths,
            needs_bytes=self._checkpoint_bytes(role),
        )

    def _build(
        self,
        name: str,
        command: Command,
        wanted: tuple[Expected, ...],
        *,
        checkpoint: Stage,
        folder: str,
        summary: str,
    ) -> Stage:
        gpu = next(iter(self.tools.installation.gpus), None)
        inputs = {
            **self._versions(),
            "tensorrt": self.tools.installation.tensorrt or "unknown",
            # an engine runs on the kind of GPU that it was compiled on
            "gpu": gpu.name if gpu else "none",
            "compute capability": (gpu.compute_capability if gpu else None) or "none",
        }
        paths = self.tools.paths(facts.BUILDER)
        return self._stage(
            name,
            command,
            inputs,
            partial(self._run, name, command, paths, wanted),
            summary=summary,
            uses=(checkpoint,),
            paths=paths,
            needs_bytes=checkpoint.needs_bytes,
            folder=folder,
        )

    def _stage(
        self,
        name: str,
        command: Command,
        inputs: dict[str, str],
        action: Callable[[StageContext], None],
        *,
        summary: str,
        uses: tuple[Stage, ...],
        paths: dict[str, str],
        needs_bytes: int,
        folder: str = "",
    ) -> Stage:
        return Stage(
            name=name,
            version=COMMAND_VERSION,
            inputs={**inputs, "command": " ".join(command.arguments)},
            action=action,
            summary=(summary,),
            needs_bytes=needs_bytes,
            uses=uses,
            folder=folder,
            command=command,
            paths=paths,
        )

    def _versions(self) -> dict[str, str]:
        return {"tensorrt_llm": str(self.tools.version)}

    def _script_digest(self, program: facts.Program) -> str:
        examples = self.tools.installation.examples
        if examples is None or examples.assumed:
            return "not at hand"
        return script_sha256(self.tools.script(program))

    def _checkpoint_bytes(self, role: str) -> int:
        """Bytes of a converted checkpoint; 0 if the model is not known yet."""
        target, method = self.recipe.target, self.recipe.speculation
        source = self.inputs.target if role == "target" else self.inputs.draft
        if source is None or not isinstance(source.info, ModelInfo):
            return 0
        quantization = target.quantization
        if role == "draft" and isinstance(method, DraftTarget):
            quantization = method.quantization
        width = _PACKED.get(quantization, DTYPE_BYTES[target.dtype])
        return int(source.info.parameters * width)

    def _run(
        self,
        name: str,
        command: Command,
        paths: dict[str, str],
        wanted: tuple[Expected, ...],
        context: StageContext,
    ) -> None:
        """Run the command, then read back what it wrote."""
        checkpoints: dict[str, str] = {
            source.role: str(source.directory.absolute())
            for source in self.inputs.sources
            if source.directory is not None
        }
        here = {
            **paths,
            **checkpoints,  # the command runs in a folder of its own
            "output": str(context.output.absolute()),
            **{name: str(path.absolute()) for name, path in context.inputs.items()},
        }
        try:
            run_command(
                command.resolved(here),
                log_file=context.log_file,
                writes_to=context.output,
                environment={**os.environ, "PYTHONUNBUFFERED": "1"},
                # the builder leaves its timing cache where it runs
                directory=Path(resolved(command.directory, here)).parent,
                watch=lambda line: context.progress.status(f"{name}: {line}"),
            )
        except CommandError as error:
            raise explained(error, _kind(name), self.tools.version) from error

        def tell(line: str) -> None:
            context.log(line)
            context.progress.line(line)

        require_as_planned(context.output, wanted, tell, context.log_file)
        parts = ".engine" if _kind(name) == "build" else ".safetensors"
        require_ranks(context.output, parts, context.log_file)


def _kind(name: str) -> Failing:
    """Tell from a stage's name which kind of program it runs."""
    kinds: tuple[Failing, ...] = ("convert", "quantize", "build")
    return next(kind for kind in kinds if name.startswith(kind))


def family_of(source: Source, stated: str | None, key: str) -> str:
    """Give the model family of a checkpoint, or what the recipe says it will be.

    :raises BuildError: if neither tells, or they tell different things.
    """
    found = source.info.family if source.info is not None else None
    if found is None and stated is None:
        raise BuildError(
            f"{source.reference.text} is not on this machine, so its family is not "
            "known",
            where=key,
            action=f"add {key}, the model_type of its config.json, such as llama",
        )
    if found is not None and stated is not None and found != stated:
        raise BuildError(
            f"is {stated}, but {source.reference.text} is of the family {found}",
            where=key,
            action=f"write {key.rpartition('.')[2]}: {found}",
        )
    return str(found or stated)


def _reads(command: Command, source: Source) -> bool:
    return f"{{{source.role}}}" in command.arguments


def _sized(sizes: EngineSizes) -> str:
    drafts = f", {sizes.max_draft_len} draft tokens" if sizes.max_draft_len else ""
    return (
        f"batch {sizes.max_batch_size}, input {sizes.max_input_len}, "
        f"sequence {sizes.max_seq_len}{drafts}"
    )
