"""The calls of the example scripts that make TensorRT-LLM checkpoints of models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trtspec.build.command_line import OUTPUT, slot
from trtspec.errors import BuildError
from trtspec.methods import DraftTarget, Eagle, Medusa, ReDrafter
from trtspec.recipe.schema import Recipe
from trtspec.trtllm import facts
from trtspec.trtllm.engine.conversion import (
    CONVERT_BASE,
    CONVERT_DRAFT,
    CONVERT_TARGET,
    QUANTIZE_BASE,
    QUANTIZE_DRAFT,
    QUANTIZE_TARGET,
    Conversion,
    Known,
    model_and_type,
    parallel_arguments,
    script_for,
)
from trtspec.trtllm.engine.quantization import (
    described,
    draft_is_quantized,
    is_quantized,
    quantize_arguments,
)
from trtspec.trtllm.engine.toolchain import Argument, Toolchain

TWO_STEPS = "--base_model_checkpoint_dir"
"""What tells ReDrafter's later script, which takes a converted base, from the first."""


def target_conversions(
    tools: Toolchain, recipe: Recipe, family: str, known: Known
) -> list[Conversion]:
    """Convert the target, with its drafter's weights where the method has such.

    :param family: ``model_type`` of the target's configuration.
    :raises BuildError: if this version has no way for the method and family.
    """
    calls = _Calls(tools, recipe, family, known)
    method = recipe.speculation
    if isinstance(method, Medusa):
        return [calls.medusa(method)]
    if isinstance(method, Eagle):
        return [calls.eagle(method)]
    if isinstance(method, ReDrafter):
        return calls.redrafter(method)
    return [calls.plain(CONVERT_TARGET, QUANTIZE_TARGET)]


def draft_conversion(
    tools: Toolchain, recipe: Recipe, method: DraftTarget, family: str, known: Known
) -> Conversion:
    """Convert the draft model of ``draft_target``."""
    quantized = draft_is_quantized(recipe, method)
    program = "quantize" if quantized else script_for(family)
    arguments = list(model_and_type(recipe, "draft"))
    if quantized:
        arguments += quantize_arguments(
            recipe, method.quantization, local_data=known.local_data
        )
    arguments += parallel_arguments(program, method.tensor_parallel)
    return Conversion(
        QUANTIZE_DRAFT if quantized else CONVERT_DRAFT,
        program,
        tools.script_command(program, arguments),
        f"quantize the draft model to {method.quantization}"
        if quantized
        else f"convert the draft model ({family})",
    )


def carries_rotary_base(recipe: Recipe) -> bool:
    """Whether the target's script is told the base of its rotary encoding."""
    method = recipe.speculation
    return isinstance(method, Eagle) or (
        isinstance(method, Medusa) and not is_quantized(recipe)
    )


@dataclass(frozen=True, slots=True)
class _Calls:
    """The calls that convert the target of a recipe."""

    tools: Toolchain
    recipe: Recipe
    family: str
    known: Known

    def plain(self, converts: str, quantizes: str) -> Conversion:
        """Convert or quantize the target as a model of its own.

        :param converts: name of the stage, if the target is not quantized.
        :param quantizes: its name if it is.
        """
        if is_quantized(self.recipe):
            summary = f"quantize the target model: {described(self.recipe)}"
            return self._call(quantizes, "quantize", self._quantized(), summary)
        dtype = self.recipe.target.dtype
        return self._call(
            converts,
            script_for(self.family),
            self._model(),
            f"convert the target model ({self.family}) to {dtype}",
        )

    def medusa(self, method: Medusa) -> Conversion:
        heads: list[Argument] = ["--medusa_model_dir", slot("draft")]
        heads += ["--num_medusa_heads", method.num_heads]
        heads += ["--num_medusa_layers", method.num_layers]
        if is_quantized(self.recipe):
            arguments = [*self._quantized(), *heads]
            arguments += ["--max_draft_len", method.max_draft_tokens]
            summary = "quantize the target model with its Medusa heads: "
            summary += described(self.recipe)
            return self._call(QUANTIZE_TARGET, "quantize", arguments, summary)
        arguments = [*self._model(), *heads]
        arguments += ["--max_medusa_token_len", method.max_draft_tokens]
        if self.family != "llama":
            arguments += ["--model_type", self.family]
        return self._call(
            CONVERT_TARGET,
            "medusa",
            [*arguments, *self._rotary_base("medusa")],
            f"convert the target model ({self.family}) with its Medusa heads",
        )

    def eagle(self, method: Eagle) -> Conversion:
        arguments: list[Argument] = [*self._model(), "--eagle_model_dir", slot("draft")]
        arguments += ["--max_draft_len", method.max_draft_tokens]
        arguments += ["--num_eagle_layers", method.num_layers]
        arguments += ["--max_non_leaves_per_layer", method.max_non_leaves_per_layer]
        return self._call(
            CONVERT_TARGET,
            "eagle",
            [*arguments, *self._rotary_base("eagle")],
            "convert the target model with its EAGLE head",
        )

    def redrafter(self, method: ReDrafter) -> list[Conversion]:
        two_steps = self.tools.takes("redrafter", TWO_STEPS)
        if not two_steps and not self.tools.takes("redrafter", "--model_dir"):
            version = self.tools.version
            raise BuildError(
                "it is not established how the script of method redrafter is called "
                f"in TensorRT-LLM {version}",
                where="speculation.method",
                action="choose a final release, or another method",
            )
        base = self.plain(CONVERT_BASE, QUANTIZE_BASE) if two_steps else None
        arguments: list[Argument] = (
            [TWO_STEPS, slot(base.stage)] if base else ["--model_dir", slot("target")]
        )
        arguments += ["--drafter_model_dir", slot("draft"), "--output_dir", OUTPUT]
        arguments += ["--dtype", self.recipe.target.dtype]
        arguments += ["--redrafter_num_beams", method.num_beams]
        arguments += ["--redrafter_draft_len_per_beam", method.draft_length_per_beam]
        if not method.greedy_search:
            arguments += ["--redrafter_no_greedy_search"]
        summary = "convert the target model with its recurrent drafter"
        if base is None:
            return [self._call(CONVERT_TARGET, "redrafter", arguments, summary)]
        summary = "add the recurrent drafter to the converted target model"
        uses = base.stage
        return [base, self._call(CONVERT_TARGET, "redrafter", arguments, summary, uses)]

    def _call(
        self,
        stage: str,
        program: facts.Program,
        arguments: list[Argument],
        summary: str,
        uses: str = "",
    ) -> Conversion:
        parallel = parallel_arguments(program, self.recipe.target.tensor_parallel)
        command = self.tools.script_command(program, [*arguments, *parallel])
        return Conversion(stage, program, command, summary, uses)

    def _model(self) -> list[Argument]:
        return list(model_and_type(self.recipe, "target"))

    def _quantized(self) -> list[Argument]:
        quantization = self.recipe.target.quantization
        given = quantize_arguments(
            self.recipe, quantization, local_data=self.known.local_data
        )
        return [*self._model(), *given]

    def _rotary_base(self, program: facts.Program) -> Iterator[Argument]:
        """Name the base: early revisions of the scripts do not read the model's."""
        theta = self.known.rope_theta
        if theta is not None and self.tools.takes(program, "--rotary_base"):
            yield from ("--rotary_base", int(theta) if theta.is_integer() else theta)
