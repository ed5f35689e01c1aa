"""How a recipe's models are spread over GPUs."""

from __future__ import annotations

from dataclasses import dataclass

from trtspec.methods import DraftTarget
from trtspec.recipe.schema import Recipe

_PIPELINE = "pipeline_parallel_size"


@dataclass(frozen=True, slots=True)
class Parallel:
    """GPUs that share one model.

    :param tensor: GPUs that share each layer.
    :param pipeline: groups of GPUs that have different layers.
    :param attention_dp: each GPU attends for requests of its own, with all heads.
    """

    tensor: int = 1
    pipeline: int = 1
    attention_dp: bool = False

    @property
    def gpus(self) -> int:
        """GPUs of the model."""
        return self.tensor * self.pipeline

    @property
    def cache_shares(self) -> int:
        """GPUs that share the heads of one request's cache."""
        return 1 if self.attention_dp else self.tensor

    @property
    def replicas(self) -> int:
        """Caches beside one another, each for requests of its own."""
        return self.tensor if self.attention_dp else 1


def target_parallel(recipe: Recipe) -> Parallel:
    """How the target model is spread."""
    options = recipe.pytorch if recipe.backend == "pytorch" else None
    given = options.llm_args.get(_PIPELINE, 1) if options else 1
    stages = given if type(given) is int and given > 0 else 1
    attention_dp = options is not None and options.attention_dp
    return Parallel(recipe.target.tensor_parallel, stages, attention_dp)


def draft_parallel(recipe: Recipe) -> Parallel:
    """How the draft model is spread: its own way on engines, else as the target is.

    On backend pytorch draft layers lie on the last stage of a pipeline
    (tensorrt_llm/_torch/pyexecutor/_util.py, ``_get_kv_size_per_token``).
    """
    method = recipe.speculation
    if recipe.backend == "tensorrt" and isinstance(method, DraftTarget):
        return Parallel(method.tensor_parallel)
    target = target_parallel(recipe)
    return Parallel(target.tensor, 1, target.attention_dp)
