"""What is kept beside weights and KV cache: an assumption, until it is measured.

TensorRT-LLM runs the largest forward once and measures it
(tensorrt_llm/_torch/pyexecutor/_util.py, ``configure_kv_cache_capacity``); an engine
has the size of its activations from its build. Neither is known here.
"""

from __future__ import annotations

from typing import NamedTuple

from trtspec.check.memory.parallel import Parallel, target_parallel
from trtspec.models.info import DTYPE_BYTES, ModelShape
from trtspec.recipe.schema import Recipe

DEFAULT_NUM_TOKENS = 8192
"""TensorRT-LLM's own default of ``max_num_tokens``, on both backends."""

CONTEXT_BYTES = 1 << 30
"""CUDA context, kernels and NCCL: aiconfigurator counts 551 MB and 392 MB on H100
(src/aiconfigurator/systems/h100_sxm.yaml)."""

GRAPH_BYTES = 1 << 29
"""CUDA graphs; no source settles it."""

ASSUMPTION = (
    "reserve assumed: activations of the largest forward by a formula, 1 GiB for the "
    "CUDA context and NCCL, 0.5 GiB for CUDA graphs; TensorRT-LLM measures it"
)


class Reserve(NamedTuple):
    """Bytes per GPU."""

    activations: int
    context: int
    graphs: int = 0

    @property
    def total(self) -> int:
        """Bytes of all."""
        return sum(self)


def token_budget(recipe: Recipe) -> int | None:
    """Tokens of one forward, if the recipe says how many."""
    section = recipe.engine if recipe.backend == "tensorrt" else recipe.pytorch
    return section.max_num_tokens if section else None


def reserve_of(recipe: Recipe, target: ModelShape) -> Reserve:
    """Assume what is kept free, see ``docs/memory.md``."""
    parallel, limits = target_parallel(recipe), recipe.limits
    step = limits.max_batch_size * recipe.speculation.verified_tokens
    most = limits.max_batch_size * limits.max_total_tokens
    tokens = token_budget(recipe) or max(min(DEFAULT_NUM_TOKENS, most), step)
    graphs = recipe.backend == "pytorch" and (
        recipe.pytorch is None or recipe.pytorch.cuda_graphs
    )
    values = tokens * _values_per_token(target, parallel)
    logits = step * target.vocabulary_rows * DTYPE_BYTES["float32"]
    size = DTYPE_BYTES[recipe.target.dtype]
    return Reserve(values * size + logits, CONTEXT_BYTES, GRAPH_BYTES if graphs else 0)


def _values_per_token(target: ModelShape, parallel: Parallel) -> int:
    """Values that are alive at once: residual, its copies, and a layer's inner ones."""
    inner = target.intermediate_size or 4 * target.hidden_size
    return 4 * target.hidden_size + 3 * -(-inner // parallel.tensor)
