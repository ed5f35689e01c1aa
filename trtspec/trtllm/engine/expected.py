"""What the config.json of a checkpoint and of an engine must say for a recipe."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.methods import DraftTarget, Eagle, Medusa, ReDrafter
from trtspec.recipe.schema import Recipe
from trtspec.trtllm import facts
from trtspec.trtllm.engine.compile import gemm_plugin, mode_of
from trtspec.trtllm.engine.convert import carries_rotary_base
from trtspec.trtllm.engine.quantization import (
    draft_kv_cache_of,
    keeps_paged_context,
    kv_cache_of,
)
from trtspec.trtllm.engine.readback import Expected
from trtspec.trtllm.engine.sizes import (
    EngineSizes,
    drafts_come_from_outside,
    options,
)

_WEIGHTS = {
    "none": (None,),
    "fp8": ("FP8",),
    "nvfp4": ("NVFP4",),
    "int4_awq": ("W4A16_AWQ",),
    "int8_wo": ("W8A16",),
    "int8_sq": (
        "W8A8_SQ_PER_CHANNEL",
        "W8A8_SQ_PER_TENSOR_PLUGIN",
        "W8A8_SQ_PER_CHANNEL_PER_TOKEN_PLUGIN",
        "W8A8_SQ_PER_CHANNEL_PER_TENSOR_PLUGIN",
        "W8A8_SQ_PER_TENSOR_PER_TOKEN_PLUGIN",
    ),
}
"""quantize.py's format → names of the algorithm (tensorrt_llm/quantization/mode.py)."""

_MODEL, _BUILD = "pretrained_config", "build_config"


def base_checkpoint(recipe: Recipe) -> tuple[Expected, ...]:
    """Expect of the target converted as a model of its own."""
    target = recipe.target
    return tuple(
        _checkpoint(
            recipe, target.quantization, kv_cache_of(recipe), target.tensor_parallel
        )
    )


def target_checkpoint(
    recipe: Recipe, rope_theta: float | None = None
) -> tuple[Expected, ...]:
    """Expect of the target's checkpoint, a method's drafter included.

    :param rope_theta: base of the rotary encoding; None if it is not known.
    """
    rotary: tuple[Expected, ...] = ()
    if rope_theta is not None and carries_rotary_base(recipe):
        rotary = (Expected("rotary_base", (rope_theta,)),)
    return (*base_checkpoint(recipe), *_method(recipe), *rotary)


def draft_checkpoint(recipe: Recipe, method: DraftTarget) -> tuple[Expected, ...]:
    """Expect of the draft model's checkpoint."""
    cache = draft_kv_cache_of(recipe, method)
    return tuple(
        _checkpoint(recipe, method.quantization, cache, method.tensor_parallel)
    )


def target_engine(
    recipe: Recipe, sizes: EngineSizes, version: str, rope_theta: float | None = None
) -> tuple[Expected, ...]:
    """Expect of the target engine, all that its checkpoint says included."""
    mode, weights = mode_of(recipe), recipe.target.quantization
    needed = drafts_come_from_outside(recipe) or mode == "eagle"
    is_kept = keeps_paged_context(weights, kv_cache_of(recipe))
    grown = sizes.max_seq_len + (sizes.max_draft_len if mode != "none" else 0)
    lengths = [grown]
    if isinstance(recipe.speculation, Eagle):  # late versions add its layers too
        lengths.append(grown + recipe.speculation.num_layers)
    return (
        *_in_engine(target_checkpoint(recipe, rope_theta)),
        Expected(f"{_BUILD}.speculative_decoding_mode", (facts.modes()[mode],)),
        Expected(f"{_BUILD}.max_draft_len", (sizes.max_draft_len,)),
        *_build(recipe, sizes, version, weights),
        Expected(f"{_BUILD}.max_seq_len", tuple(lengths), "at least"),
        _paged_context(needed=needed or is_kept),
    )


def draft_engine(
    recipe: Recipe, method: DraftTarget, sizes: EngineSizes, version: str
) -> tuple[Expected, ...]:
    """Expect of the draft model's engine: a plain one that reuses its KV cache."""
    return (
        *_in_engine(draft_checkpoint(recipe, method)),
        Expected(f"{_BUILD}.speculative_decoding_mode", (facts.modes()["none"],)),
        Expected(f"{_BUILD}.max_draft_len", (0,)),
        *_build(recipe, sizes, version, method.quantization),
        Expected(f"{_BUILD}.max_seq_len", (sizes.max_seq_len,), "at least"),
        _paged_context(needed=True),
    )


def _in_engine(expected: tuple[Expected, ...]) -> Iterator[Expected]:
    for one in expected:
        yield Expected(f"{_MODEL}.{one.key}", one.values, one.rule)


def _checkpoint(
    recipe: Recipe, quantization: str, kv_cache: str, tensor_parallel: int
) -> Iterator[Expected]:
    yield Expected("dtype", (recipe.target.dtype,))
    yield Expected("mapping.tp_size", (tensor_parallel,))
    yield Expected("quantization.quant_algo", _WEIGHTS[quantization])
    yield Expected("quantization.kv_cache_quant_algo", (kv_cache.upper() or None,))


def _method(recipe: Recipe) -> Iterator[Expected]:
    method = recipe.speculation
    described = facts.architectures()[method.method]
    if described.architectures:
        yield Expected("architecture", described.architectures)
    if isinstance(method, Medusa):
        yield Expected("max_draft_len", (method.max_draft_tokens,))
        yield Expected("num_medusa_heads", (method.num_heads,))
        yield Expected("num_medusa_layers", (method.num_layers,))
    if isinstance(method, Eagle):
        yield Expected("max_draft_len", (method.max_draft_tokens,))
        yield Expected("num_eagle_layers", (method.num_layers,))
        yield Expected("max_non_leaves_per_layer", (method.max_non_leaves_per_layer,))
    if isinstance(method, ReDrafter):
        length = method.draft_length_per_beam
        yield Expected("redrafter_num_beams", (method.num_beams,))
        yield Expected("redrafter_draft_len_per_beam", (length,))
        yield Expected("redrafter_greedy_search", (method.greedy_search,))


def _build(
    recipe: Recipe, sizes: EngineSizes, version: str, quantization: str
) -> Iterator[Expected]:
    plugins = f"{_BUILD}.plugin_config"
    gemm = _gemm_plugin(recipe, quantization)
    yield Expected("version", (version,), "same version")
    yield Expected(f"{plugins}.gemm_plugin", gemm)
    yield Expected(f"{_BUILD}.max_batch_size", (sizes.max_batch_size,))
    yield Expected(f"{_BUILD}.max_input_len", (sizes.max_input_len,))
    yield Expected(f"{_BUILD}.max_num_tokens", (sizes.max_num_tokens,), "at least")
    yield Expected(f"{_BUILD}.max_beam_width", (1,))
    if isinstance(recipe.speculation, DraftTarget):
        logits = recipe.speculation.use_draft_logits
        yield Expected(f"{_BUILD}.gather_generation_logits", (logits,))
    yield from _extra(recipe)


def _gemm_plugin(recipe: Recipe, quantization: str) -> tuple[str | None, ...]:
    """Give what may be written of the GEMM plugin; the first is what is meant."""
    chosen = gemm_plugin(recipe, quantization)
    if chosen == "disable":
        return (None, chosen)
    if quantization == "nvfp4":
        return ("nvfp4",)  # whatever was chosen
    # auto is written out as the type that it stands for
    return (chosen, recipe.target.dtype) if chosen == "auto" else (chosen,)


def _extra(recipe: Recipe) -> Iterator[Expected]:
    """The recipe's further flags that an engine's plugin_config shows."""
    for name, value in options(recipe).build_flags.items():
        if value in ("enable", "disable"):
            key = f"{_BUILD}.plugin_config.{name}"
            yield Expected(key, (value == "enable",), "reported")


def _paged_context(*, needed: bool) -> Expected:
    """Paged context FMHA: some methods fail without it, others lose KV reuse."""
    key = f"{_BUILD}.plugin_config.use_paged_context_fmha"
    return Expected(key, (True,), "equal" if needed else "reported")
