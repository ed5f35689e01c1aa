"""What is kept beside weights and KV cache: an assumption, until it is measured.

TensorRT-LLM runs the largest forward once and measures it
(tensorrt_llm/_torch/pyexecutor/_util.py, ``configure_kv_cache_capacity``); an engine
has the size of its activations from its build. Neither is known here.
"""

from __future__ import annotations

from typing import NamedTuple

from trtspec.check.memory.forward import step_tokens
from trtspec.check.memory.parallel import Parallel, target_parallel
from trtspec.models.info import DTYPE_BYTES, ModelShape
from trtspec.recipe.schema import Recipe

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


def reserve_of(recipe: Recipe, target: ModelShape, tokens: int) -> Reserve:
    """Assume what is kept free, see ``docs/memory.md``.

    :param tokens: of the largest forward, see ``forward_tokens``.
    """
    graphs = recipe.backend == "pytorch" and (
        recipe.pytorch is None or recipe.pytorch.cuda_graphs
    )
    values = tokens * _values_per_token(target, target_parallel(recipe))
    logits = step_tokens(recipe) * target.vocabulary_rows * DTYPE_BYTES["float32"]
    size = DTYPE_BYTES[recipe.target.dtype]
    return Reserve(values * size + logits, CONTEXT_BYTES, GRAPH_BYTES if graphs else 0)


def _values_per_token(target: ModelShape, parallel: Parallel) -> int:
    """Values that are alive at once: residual, its copies, and a layer's inner ones."""
    inner = target.intermediate_size or 4 * target.hidden_size
    return 4 * target.hidden_size + 3 * -(-inner // parallel.tensor)
