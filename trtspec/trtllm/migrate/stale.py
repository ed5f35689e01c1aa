"""What keys from before 1.0 became: nested in ``pytorch_backend_config``, or flat.

Source: llm_args.py and examples of TensorRT-LLM 0.19 to 0.21.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trtspec.recipe.yaml_lines import KeyPath
from trtspec.trtllm.facts.llm_args import TOP_LEVEL
from trtspec.trtllm.migrate.change import Change, removed
from trtspec.trtllm.migrate.config import Config
from trtspec.trtllm.migrate.walk import described

NEST = "pytorch_backend_config"
_GRAPHS = "cuda_graph_config"
_MOVED: dict[str, KeyPath] = {
    "cuda_graph_batch_sizes": (_GRAPHS, "batch_sizes"),
    "cuda_graph_max_batch_size": (_GRAPHS, "max_batch_size"),
    "cuda_graph_padding_enabled": (_GRAPHS, "enable_padding"),
    "kv_cache_dtype": ("kv_cache_config", "dtype"),
    "moe_backend": ("moe_config", "backend"),
    "moe_max_num_tokens": ("moe_config", "max_num_tokens"),
    "moe_load_balancer": ("moe_config", "load_balancer"),
    "autotuner_enabled": ("enable_autotuner",),
    "mixed_sampler": ("enable_mixed_sampler",),
}
"""Key before 1.0 → where it stands since."""
_WHY = "a key from before 1.0, which every release refuses"


def stale(config: Config) -> Iterator[Change]:
    """Lift what was nested to the top, and move what was flat into its section."""
    nested = config.values.get(NEST)
    if isinstance(nested, dict):
        why = f"{NEST} is from before 1.0, and every release refuses it"
        for key, value in nested.items():
            yield from _placed(config, (NEST, key), value, why)
    elif NEST in config.values:
        yield removed((NEST,), nested, _WHY)
    for key, value in config.values.items():
        if key != NEST and _is_stale(key):
            yield from _placed(config, (key,), value, _WHY)


def _is_stale(key: object) -> bool:
    flat = key in (*_MOVED, "use_cuda_graph", "enable_overlap_scheduler")
    return flat and described(str(key), TOP_LEVEL) is None


def _placed(config: Config, path: KeyPath, value: Any, why: str) -> Iterator[Change]:
    key = str(path[-1])
    if key == "use_cuda_graph":
        yield _graphs(path, value)
        return
    if key == "enable_overlap_scheduler":
        place: KeyPath = ("disable_overlap_scheduler",)
        value, old = value is False, value
    else:
        place, old = _MOVED.get(key, (key,)), value
    section = config.values.get(place[0]) if len(place) > 1 else config.values
    if isinstance(section, dict) and place[-1] in section:
        yield removed(path, old, f"{why}; given where it belongs too")
    elif len(place) > 1 and section is not None and not isinstance(section, dict):
        yield removed(path, old, f"{why}; {place[0]} is no map")
    else:
        kind = "renamed" if old is value else "converted"
        yield Change(kind, path, old, value, why, place)  # type: ignore[arg-type]


def _graphs(path: KeyPath, value: Any) -> Change:
    if value is not False:
        return removed(path, value, "CUDA graphs are on by default since 1.0")
    why = "null is how graphs are switched off since 1.0"
    return Change("converted", path, value, None, why, (_GRAPHS,))
