"""Whether the GPUs of a target can be split among its experts as asked for."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

EXPERTS = "moe_expert_parallel_size"
_TENSOR, _CLUSTERS = "moe_tensor_parallel_size", "moe_cluster_parallel_size"
_ALL = (EXPERTS, _TENSOR, _CLUSTERS)


def split_fault(args: Mapping[str, Any]) -> tuple[str, str]:
    """Say which key splits the GPUs wrongly, and how; two empty texts if none does.

    moe_tensor_parallel_size * moe_expert_parallel_size * moe_cluster_parallel_size has
    to be tensor_parallel_size; what is not given, or -1, fills the rest, 1 for clusters
    (tensorrt_llm/mapping.py).

    :param args: what the YAML holds.
    """
    gpus = args.get("tensor_parallel_size", 1)
    given = {key: args[key] for key in _ALL if _is_count(args.get(key))}
    if not given or not _is_count(gpus):
        return "", ""
    key, asked = next(iter(given)), prod(given.values())
    if len(given) == 1 and gpus % asked:
        return key, f"is {asked}, which does not divide tensor_parallel_size {gpus}"
    whole = EXPERTS in given and _TENSOR in given
    if asked != gpus if whole else gpus % asked:
        product = " x ".join(f"{key} {size}" for key, size in given.items())
        how = "is not" if whole else "does not divide"
        return key, f"does not fit: {product} {how} tensor_parallel_size {gpus}"
    return "", ""


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
