"""The calls of the example scripts that make TensorRT-LLM checkpoints of models."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trtspec.build.command import OUTPUT, Command, slot
from trtspec.errors import BuildError
from trtspec.methods import DraftTarget, Eagle, Medusa, ReDrafter
from trtspec.recipe.schema import Recipe
from trtspec.trtllm import facts
from trtspec.trtllm.engine.sizes import options
from trtspec.trtllm.engine.toolchain import Argument, Toolchain

CONVERT_TARGET, CONVERT_BASE = "convert-target", "convert-base"
CONVERT_DRAFT = "convert-draft"
QUANTIZE_TARGET, QUANTIZE_BASE = "quantize-target", "quantize-base"
QUANTIZE_DRAFT = "quantize-draft"

_SCRIPTS: dict[str, facts.Program] = {
    "llama": "llama",
    "mistral": "llama",
    "mixtral": "llama",
    "qwen": "qwen",
    "qwen2": "qwen",
}
"""``model_type`` → the family's script; the llama script serves all of its shape."""

TWO_STEPS = "--base_model_checkpoint_dir"
"""What tells ReDrafter's later script, which takes a converted base, from the first."""


@dataclass(frozen=True, slots=True)
class Conversion:
    """One call of a script.

    :param stage: name of the stage that it is.
    :param uses: the earlier conversion that it starts from; empty if from a model.
    """

    stage: str
    program: facts.Program
    command: Command
    summary: str
    uses: str = ""


def target_conversions(
    tools: Toolchain, recipe: Recipe, family: str
) -> list[Conversion]:
    """Convert the target, with its drafter's weights where the method has such.

    :param family: ``model_type`` of the target's configuration.
    :raises BuildError: if this version has no way for the method and family.
    """
    method = recipe.speculation
    if isinstance(method, Medusa):
        return [_medusa(tools, recipe, method, family)]
    if isinstance(method, Eagle):
        return [_eagle(tools, recipe, method)]
    if isinstance(method, ReDrafter):
        return _redrafter(tools, recipe, method, family)
    return [_plain(tools, recipe, family)]


def draft_conversion(tools: Toolchain, recipe: Recipe, family: str) -> Conversion:
    """Convert the draft model of ``draft_target``."""
    method = recipe.speculation
    assert isinstance(method, DraftTarget), "only draft_target has a draft model"
    if method.quantization != "none" or _kv_cache(recipe, method.quantization):
        arguments = _quantize(recipe, "draft", method.quantization)
        return Conversion(
            QUANTIZE_DRAFT,
            "quantize",
            tools.script_command(
                "quantize", [*arguments, *_parallel("quantize", method.tensor_parallel)]
            ),
            f"quantize the draft model to {method.quantization}",
        )
    program = script_for(family)
    arguments = _model_and_type(recipe, "draft")
    command = tools.script_command(
        program, [*arguments, *_parallel(program, method.tensor_parallel)]
    )
    return Conversion(
        CONVERT_DRAFT, program, command, f"convert the draft model ({family})"
    )


def script_for(family: str) -> facts.Program:
    """Give the convert script of a model family.

    :raises BuildError: if trtspec drives none for it.
    """
    if family not in _SCRIPTS:
        raise BuildError(
            f"there is no convert script for the model family {family!r}",
            allowed=", ".join(_SCRIPTS),
            action="choose a model of one of these families, or another backend",
        )
    return _SCRIPTS[family]


def _plain(tools: Toolchain, recipe: Recipe, family: str, role: str = "") -> Conversion:
    """Convert or quantize the target as a model of its own.

    :param role: "base" where a drafter is added in a second step.
    """
    target, base = recipe.target, role == "base"
    if is_quantized(recipe):
        arguments = _quantize(recipe, "target", target.quantization)
        return Conversion(
            QUANTIZE_BASE if base else QUANTIZE_TARGET,
            "quantize",
            tools.script_command(
                "quantize", [*arguments, *_parallel("quantize", target.tensor_parallel)]
            ),
            f"quantize the target model: {_quantized(recipe)}",
        )
    program = script_for(family)
    return Conversion(
        CONVERT_BASE if base else CONVERT_TARGET,
        program,
        tools.script_command(
            program,
            [
                *_model_and_type(recipe, "target"),
                *_parallel(program, target.tensor_parallel),
            ],
        ),
        f"convert the target model ({family}) to {target.dtype}",
    )


def _medusa(
    tools: Toolchain, recipe: Recipe, method: Medusa, family: str
) -> Conversion:
    heads: list[Argument] = ["--medusa_model_dir", slot("draft")]
    heads += ["--num_medusa_heads", method.num_heads]
    heads += ["--num_medusa_layers", method.num_layers]
    parallel = recipe.target.tensor_parallel
    if is_quantized(recipe):
        arguments = _quantize(recipe, "target", recipe.target.quantization)
        arguments += [*heads, "--max_draft_len", method.max_draft_tokens]
        return Conversion(
            QUANTIZE_TARGET,
            "quantize",
            tools.script_command(
                "quantize", [*arguments, *_parallel("quantize", parallel)]
            ),
            f"quantize the target model with its Medusa heads: {_quantized(recipe)}",
        )
    arguments = [*_model_and_type(recipe, "target"), *heads]
    arguments += ["--max_medusa_token_len", method.max_draft_tokens]
    if family not in ("llama", "mistral"):
        arguments += ["--model_type", family]
    return Conversion(
        CONVERT_TARGET,
        "medusa",
        tools.script_command("medusa", [*arguments, *_parallel("medusa", parallel)]),
        f"convert the target model ({family}) with its Medusa heads",
    )


def _eagle(tools: Toolchain, recipe: Recipe, method: Eagle) -> Conversion:
    arguments: list[Argument] = [*_model_and_type(recipe, "target")]
    arguments += ["--eagle_model_dir", slot("draft")]
    arguments += ["--max_draft_len", method.max_draft_tokens]
    arguments += ["--num_eagle_layers", method.num_layers]
    arguments += ["--max_non_leaves_per_layer", method.max_non_leaves_per_layer]
    arguments += _parallel("eagle", recipe.target.tensor_parallel)
    return Conversion(
        CONVERT_TARGET,
        "eagle",
        tools.script_command("eagle", arguments),
        "convert the target model with its EAGLE head",
    )


def _redrafter(
    tools: Toolchain, recipe: Recipe, method: ReDrafter, family: str
) -> list[Conversion]:
    two_steps = tools.takes("redrafter", TWO_STEPS)
    base = _plain(tools, recipe, family, "base") if two_steps else None
    arguments: list[Argument] = (
        [TWO_STEPS, slot(base.stage)] if base else ["--model_dir", slot("target")]
    )
    arguments += ["--drafter_model_dir", slot("draft"), "--output_dir", OUTPUT]
    arguments += ["--dtype", recipe.target.dtype]
    arguments += ["--redrafter_num_beams", method.num_beams]
    arguments += ["--redrafter_draft_len_per_beam", method.draft_length_per_beam]
    if not method.greedy_search:
        arguments += ["--redrafter_no_greedy_search"]
    arguments += _parallel("redrafter", recipe.target.tensor_parallel)
    added = Conversion(
        CONVERT_TARGET,
        "redrafter",
        tools.script_command("redrafter", arguments),
        "add the recurrent drafter to the converted target model"
        if base
        else "convert the target model with its recurrent drafter",
        uses=base.stage if base else "",
    )
    return [base, added] if base else [added]


def is_quantized(recipe: Recipe) -> bool:
    """Whether the target goes through quantize.py, for its weights or KV cache."""
    quantization = recipe.target.quantization
    return quantization != "none" or bool(_kv_cache(recipe, quantization))


def _kv_cache(recipe: Recipe, quantization: str) -> str:
    """Give quantize.py's type of the KV cache; empty for that of the model."""
    chosen = options(recipe).kv_cache
    if chosen == "auto":
        return "fp8" if quantization in ("fp8", "nvfp4") else ""
    return chosen


def kv_cache_of(recipe: Recipe) -> str:
    """Give the type that the target's KV cache is quantized to; empty for none."""
    return _kv_cache(recipe, recipe.target.quantization)


def draft_kv_cache_of(recipe: Recipe) -> str:
    """Give the type that the draft model's KV cache is quantized to."""
    method = recipe.speculation
    assert isinstance(method, DraftTarget), "only draft_target has a draft model"
    return _kv_cache(recipe, method.quantization)


def _quantized(recipe: Recipe) -> str:
    kv_cache = kv_cache_of(recipe)
    weights = recipe.target.quantization
    return f"weights {weights}" + (f", KV cache {kv_cache}" if kv_cache else "")


def _model_and_type(recipe: Recipe, role: str) -> list[Argument]:
    paths = ["--model_dir", slot(role), "--output_dir", OUTPUT]
    return [*paths, "--dtype", recipe.target.dtype]


def _quantize(recipe: Recipe, role: str, quantization: str) -> list[Argument]:
    qformat = "full_prec" if quantization == "none" else quantization
    arguments = [*_model_and_type(recipe, role), "--qformat", qformat]
    if kv_cache := _kv_cache(recipe, quantization):
        arguments += ["--kv_cache_dtype", kv_cache]
    chosen = options(recipe)
    if chosen.calibration_dataset:
        arguments += ["--calib_dataset", chosen.calibration_dataset]
    if chosen.calibration_samples:
        arguments += ["--calib_size", chosen.calibration_samples]
    return arguments


def _parallel(program: facts.Program, size: int) -> Iterator[Argument]:
    """Split over GPUs; quantize.py has no workers."""
    if size > 1:
        yield from ("--tp_size", size)
        if program != "quantize":
            yield from ("--workers", size)
