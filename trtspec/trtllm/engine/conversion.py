"""What one call of an example script is, and what all of them are called with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from trtspec.build.command_line import OUTPUT, Command, slot
from trtspec.errors import BuildError
from trtspec.recipe.schema import Recipe
from trtspec.trtllm import facts
from trtspec.trtllm.engine.toolchain import Argument

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


@dataclass(frozen=True, slots=True)
class Known:
    """What is known beside the recipe.

    :param rope_theta: base of the target's rotary encoding; None if it is not known.
    :param local_data: the calibration dataset is a folder on this machine.
    """

    rope_theta: float | None = None
    local_data: bool = False


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


def model_and_type(recipe: Recipe, role: str) -> Iterator[Argument]:
    """Give the arguments that all scripts have: the model, where to, which type."""
    yield from ("--model_dir", slot(role), "--output_dir", OUTPUT)
    yield from ("--dtype", recipe.target.dtype)


def parallel_arguments(program: facts.Program, size: int) -> Iterator[Argument]:
    """Split over GPUs; quantize.py has no workers."""
    if size > 1:
        yield from ("--tp_size", size)
        if program != "quantize":
            yield from ("--workers", size)
