"""The call of trtllm-build that makes an engine of a converted checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trtspec.build.command_line import OUTPUT, Command, slot
from trtspec.methods import DraftTarget, Lookahead, NGram, ReDrafter
from trtspec.recipe.schema import Recipe
from trtspec.trtllm import facts
from trtspec.trtllm.engine.sizes import EngineSizes, options
from trtspec.trtllm.engine.toolchain import Argument, Toolchain

ENABLE = "enable"
WORKERS = "--workers"
"""How many processes work at once, which changes nothing of what they make."""


def mode_of(recipe: Recipe) -> str:
    """Give the target engine's speculative decoding mode by its command-line name."""
    return facts.architectures()[recipe.speculation.method].mode


def gemm_plugin(recipe: Recipe, quantization: str) -> str:
    """Choose the GEMM plugin: it has no default of its own, and unset means none.

    :param quantization: of the weights; for nvfp4 the builder takes the plugin of that
        name in any case but ``disable`` (tensorrt_llm/builder.py).
    """
    if chosen := options(recipe).gemm_plugin:
        return chosen
    fitting = {"none": recipe.target.dtype, "nvfp4": "nvfp4"}
    return fitting.get(quantization, "auto")


def target_command(
    tools: Toolchain, recipe: Recipe, sizes: EngineSizes, checkpoint: str
) -> Command:
    """Build the target engine.

    :param checkpoint: the stage that made the converted checkpoint.
    """
    target, method = recipe.target, recipe.speculation
    mode = mode_of(recipe)
    arguments: list[Argument] = [
        *_common(recipe, sizes, checkpoint, target.quantization),
        *(("--speculative_decoding_mode", mode) if mode != "none" else ()),
    ]
    if isinstance(method, DraftTarget | NGram | Lookahead):
        # the other methods' converted checkpoints carry it
        arguments += ["--max_draft_len", sizes.max_draft_len]
    if isinstance(method, ReDrafter):
        arguments += ["--remove_input_padding", ENABLE]
    arguments += _rest(recipe, target.tensor_parallel)
    return tools.builder_command(arguments)


def draft_command(
    tools: Toolchain,
    recipe: Recipe,
    method: DraftTarget,
    sizes: EngineSizes,
    checkpoint: str,
) -> Command:
    """Build the draft model's engine, a plain one."""
    return tools.builder_command(
        [
            *_common(recipe, sizes, checkpoint, method.quantization),
            *_rest(recipe, method.tensor_parallel),
        ]
    )


def _common(
    recipe: Recipe, sizes: EngineSizes, checkpoint: str, quantization: str
) -> Iterator[Argument]:
    """Paths, plugins and sizes; what some version has another default for is given."""
    yield from ("--checkpoint_dir", slot(checkpoint), "--output_dir", OUTPUT)
    yield from ("--gemm_plugin", gemm_plugin(recipe, quantization))
    yield from ("--use_paged_context_fmha", ENABLE)
    yield from ("--max_batch_size", sizes.max_batch_size)
    yield from ("--max_input_len", sizes.max_input_len)
    yield from ("--max_seq_len", sizes.max_seq_len)
    yield from ("--max_num_tokens", sizes.max_num_tokens)
    yield from ("--max_beam_width", 1)


def _rest(recipe: Recipe, workers: int) -> Iterator[Argument]:
    method = recipe.speculation
    if isinstance(method, DraftTarget) and method.use_draft_logits:
        yield "--gather_generation_logits"
    if workers > 1:
        yield from (WORKERS, workers)
    yield from build_flags(options(recipe).build_flags)


def build_flags(extra: Mapping[str, str | int | bool]) -> Iterator[Argument]:
    """Write the recipe's further flags by name; a switch is given or left out."""
    for name, value in sorted(extra.items()):
        if value is True:
            yield f"--{name}"
        elif value is not False:
            yield from (f"--{name}", value)
