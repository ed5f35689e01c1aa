"""Whether ModelOpt wrote what it was asked for."""

from __future__ import annotations

from pathlib import Path

from trtspec.errors import BuildError
from trtspec.models.weights import weight_files
from trtspec.trtllm.stored import (
    ALGORITHMS,
    QUANT_CONFIG,
    quantization_section,
)

CACHE_ALGORITHMS = {"auto": None, "fp8": "FP8", "nvfp4": "NVFP4"}
"""A recipe's KV cache → ModelOpt's ``kv_cache_quant_algo``."""


def require_quantized(output: Path, quantization: str, kv_cache: str) -> None:
    """Hold what was written against what the recipe asks for.

    :param quantization: of the weights, a key of ``ALGORITHMS``.
    :param kv_cache: a key of ``CACHE_ALGORITHMS``.
    :raises BuildError: if something else was written, or no weights.
    """
    if not weight_files(output):
        raise BuildError("ModelOpt wrote no weights", action="see the stage's log")
    said = quantization_section(output)
    wanted = {
        "quant_algo": ALGORITHMS[quantization],
        "kv_cache_quant_algo": CACHE_ALGORITHMS[kv_cache],
    }
    for key, value in wanted.items():
        if said.get(key) != value:
            raise BuildError(
                f"{QUANT_CONFIG} says {key} {said.get(key)}, where the recipe asks for "
                f"{value}",
                action="install the nvidia-modelopt that this TensorRT-LLM comes with",
            )
