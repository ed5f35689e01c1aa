"""The call of trtllm-build that makes an engine of a converted checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trtspec.build.command import OUTPUT, Command, slot
from trtspec.methods import DraftTarget, Eagle, Lookahead, Medusa, NGram, ReDrafter
from trtspec.recipe.schema import Recipe
from trtspec.trtllm.engine.sizes import EngineSizes, options
from trtspec.trtllm.engine.toolchain import Argument, Toolchain

ENABLE = "enable"


def mode_of(recipe: Recipe) -> str:
    """Give the target engine's speculative decoding mode by its command-line name."""
    modes = {
        DraftTarget: "draft_tokens_external",
        NGram: "draft_tokens_external",
        Medusa: "medusa",
        Eagle: "eagle",
        ReDrafter: "explicit_draft_tokens",
        Lookahead: "lookahead_decoding",
    }
    return modes.get(type(recipe.speculation), "none")


def gemm_plugin(recipe: Recipe, quantization: str) -> str:
    """Choose the GEMM plugin: it has no default of its own, and unset means none."""
    if chosen := options(recipe).gemm_plugin:
        return chosen
    return recipe.target.dtype if quantization == "none" else "auto"


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
    tools: Toolchain, recipe: Recipe, sizes: EngineSizes, checkpoint: str
) -> Command:
    """Build the draft model's engine, a plain one."""
    method = recipe.speculation
    assert isinstance(method, DraftTarget), "only draft_target has a draft engine"
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
        yield from ("--workers", workers)
    yield from build_flags(options(recipe).build_flags)


def build_flags(extra: Mapping[str, str | int | bool]) -> Iterator[Argument]:
    """Write the recipe's further flags; a switch is given or left out."""
    for name, value in extra.items():
        if value is True:
            yield f"--{name}"
        elif value is not False:
            yield from (f"--{name}", value)
