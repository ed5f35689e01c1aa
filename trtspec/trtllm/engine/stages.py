"""The stages of an engine build: convert, quantize, compile, and the tokenizer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trtspec.build.artifact import DRAFT, TARGET
from trtspec.build.command_line import Command, slot
from trtspec.build.sources import Source, StageInputs
from trtspec.build.stage import Stage
from trtspec.methods import DraftTarget
from trtspec.models.info import ModelInfo
from trtspec.recipe.schema import Recipe
from trtspec.trtllm import facts
from trtspec.trtllm.engine import expected
from trtspec.trtllm.engine.calibration import content_digest, local_dataset
from trtspec.trtllm.engine.checkpoints import converted_bytes, family_of
from trtspec.trtllm.engine.compile import draft_command, target_command
from trtspec.trtllm.engine.conversion import Conversion, Known
from trtspec.trtllm.engine.convert import draft_conversion, target_conversions
from trtspec.trtllm.engine.quantization import CALIBRATION
from trtspec.trtllm.engine.readback import Expected
from trtspec.trtllm.engine.running import ProgramRun
from trtspec.trtllm.engine.sizes import EngineSizes, draft_sizes, target_sizes
from trtspec.trtllm.engine.stage_keys import (
    command_inputs,
    file_inputs,
    machine_inputs,
)
from trtspec.trtllm.engine.tokenizer import tokenizer_stage
from trtspec.trtllm.engine.toolchain import Toolchain
from trtspec.trtllm.examples import script_sha256
from trtspec.trtllm.libraries import library_inputs

COMMAND_VERSION = 2
"""Raised when the same command on the same inputs would be judged in another way."""

BUILD_TARGET, BUILD_DRAFT = "build-target", "build-draft"


def engine_stages(tools: Toolchain, inputs: StageInputs) -> tuple[Stage, ...]:
    """Plan the stages; what is not known of a checkpoint yet is left out of the keys.

    :raises BuildError: if this version of TensorRT-LLM has no way for the recipe.
    """
    planner, method = _Planner(tools, inputs), inputs.recipe.speculation
    stages = [tokenizer_stage(inputs.target), *planner.target()]
    if isinstance(method, DraftTarget):
        assert inputs.draft is not None, "draft_target names a draft model"
        stages += planner.draft(method, inputs.draft)
    return tuple(stages)


@dataclass(frozen=True, slots=True)
class _Engine:
    """What the last stage of an engine makes.

    :param gpus: how many share it.
    """

    stage: str
    folder: str
    summary: str
    gpus: int


@dataclass(frozen=True, slots=True)
class _Planner:
    tools: Toolchain
    inputs: StageInputs

    @property
    def recipe(self) -> Recipe:
        return self.inputs.recipe

    @property
    def known(self) -> Known:
        info = self.inputs.target.info
        theta = info.rope_theta if isinstance(info, ModelInfo) else None
        data = local_dataset(self.recipe, self.inputs.base)
        return Known(theta, local_data=data is not None)

    def target(self) -> list[Stage]:
        recipe, version = self.recipe, self.tools.version
        target, theta = recipe.target, self.known.rope_theta
        family = family_of(self.inputs.target, target.family, "target.family")
        weight = converted_bytes(self.inputs.target, target.dtype, target.quantization)
        converted: list[Stage] = []
        for conversion in target_conversions(self.tools, recipe, family, self.known):
            is_base = conversion.stage.endswith("-base")
            wanted = (
                expected.base_checkpoint(recipe)
                if is_base
                else expected.target_checkpoint(recipe, theta)
            )
            used = tuple(s for s in converted if s.name == conversion.uses)
            converted.append(self._conversion(conversion, wanted, used, weight))
        sizes = target_sizes(recipe, version)
        command = target_command(self.tools, recipe, sizes, converted[-1].name)
        wanted = expected.target_engine(recipe, sizes, str(version), theta)
        summary = f"compile the target engine: {_sized(sizes)}"
        engine = _Engine(BUILD_TARGET, TARGET, summary, target.tensor_parallel)
        return [*converted, self._build(engine, command, wanted, converted[-1])]

    def draft(self, method: DraftTarget, source: Source) -> list[Stage]:
        recipe, version = self.recipe, self.tools.version
        family = family_of(source, method.family, "speculation.family")
        weight = converted_bytes(source, recipe.target.dtype, method.quantization)
        conversion = draft_conversion(self.tools, recipe, method, family, self.known)
        wanted = expected.draft_checkpoint(recipe, method)
        converted = self._conversion(conversion, wanted, (), weight)
        sizes = draft_sizes(recipe, version)
        command = draft_command(self.tools, recipe, method, sizes, converted.name)
        wanted = expected.draft_engine(recipe, method, sizes, str(version))
        summary = f"compile the draft engine: {_sized(sizes)}"
        engine = _Engine(BUILD_DRAFT, DRAFT, summary, method.tensor_parallel)
        return [converted, self._build(engine, command, wanted, converted)]

    def _conversion(
        self,
        conversion: Conversion,
        wanted: tuple[Expected, ...],
        used: tuple[Stage, ...],
        needs_bytes: int,
    ) -> Stage:
        command, program = conversion.command, conversion.program
        sources = [s for s in self.inputs.sources if _reads(command, s.role)]
        paths = self.tools.paths(program)
        paths |= {s.role: str(s.directory or s.reference.text) for s in sources}
        inputs = {
            "script": self._script_digest(program),
            **library_inputs(),
            **file_inputs(sources, calibrates=program == "quantize"),
        }
        data = local_dataset(self.recipe, self.inputs.base)
        if data is not None and _reads(command, CALIBRATION):
            paths[CALIBRATION] = str(data)
            inputs["calibration"] = content_digest(data)
        return Stage(
            name=conversion.stage,
            version=COMMAND_VERSION,
            inputs={**self._common(command), **inputs},
            action=self._run(conversion.stage, command, paths, wanted),
            summary=(conversion.summary,),
            needs_bytes=needs_bytes,
            uses=used,
            command=command,
            paths=paths,
        )

    def _build(
        self,
        engine: _Engine,
        command: Command,
        wanted: tuple[Expected, ...],
        checkpoint: Stage,
    ) -> Stage:
        paths = self.tools.paths(facts.BUILDER)
        machine = machine_inputs(self.tools.installation, engine.gpus)
        return Stage(
            name=engine.stage,
            version=COMMAND_VERSION,
            inputs={**self._common(command), **machine},
            action=self._run(engine.stage, command, paths, wanted),
            summary=(engine.summary,),
            needs_bytes=checkpoint.needs_bytes,
            uses=(checkpoint,),
            folder=engine.folder,
            command=command,
            paths=paths,
        )

    def _common(self, command: Command) -> dict[str, str]:
        return {"tensorrt_llm": str(self.tools.version), **command_inputs(command)}

    def _run(
        self,
        name: str,
        command: Command,
        paths: Mapping[str, str],
        wanted: tuple[Expected, ...],
    ) -> ProgramRun:
        # the command runs in a folder of its own
        absolute: dict[str, str] = {
            source.role: str(source.directory.absolute())
            for source in self.inputs.sources
            if source.directory is not None
        }
        version = self.tools.version
        return ProgramRun(name, command, {**paths, **absolute}, wanted, version)

    def _script_digest(self, program: facts.Program) -> str:
        examples = self.tools.installation.examples
        if examples is None or examples.assumed:
            return "not at hand"
        return script_sha256(self.tools.script(program))


def _reads(command: Command, place: str) -> bool:
    return slot(place) in command.arguments


def _sized(sizes: EngineSizes) -> str:
    drafts = f", {sizes.max_draft_len} draft tokens" if sizes.max_draft_len else ""
    return (
        f"batch {sizes.max_batch_size}, input {sizes.max_input_len}, "
        f"sequence {sizes.max_seq_len}{drafts}"
    )
