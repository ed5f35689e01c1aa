"""What do the classes demand of their values beyond types, as each family has it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.standins.llm.top import check_top_level

ONE_LENGTH = {
    "EagleDecodingConfig",
    "Eagle3DecodingConfig",
    "NGramDecodingConfig",
    "SADecodingConfig",
    "DraftTargetDecodingConfig",
    "PARDDecodingConfig",
}
"""Classes that have no draft length but the one they are given."""
NO_SCHEDULE = {
    "NGramDecodingConfig",
    "UserProvidedDecodingConfig",
    "DSparkDecodingConfig",
}
"""On main."""
NO_REJECTION = {
    "NGramDecodingConfig",
    "SADecodingConfig",
    "UserProvidedDecodingConfig",
}
MOST_TOP_K = 32


def check(config: Any, family: str) -> None:
    """Raise ValueError for a value that the family refuses."""
    name, main = type(config).__name__, family == "main"
    if name == "TorchLlmArgs":
        check_top_level(config, family)
    elif name == "CudaGraphConfig":
        _check_graphs(config)
    elif name == "KvCacheConfig":
        _fraction(config, "free_gpu_memory_fraction")
    elif name == "SAEnhancerConfig":
        require(config.threshold > 0, "threshold must be > 0")
    elif name.endswith("DecodingConfig"):
        _check_speculation(config, name, main)
        _check_schedule(config, name, main)
        if main:
            _check_main(config, name)


def require(holds: Any, message: str) -> None:
    if not holds:
        raise ValueError(message)


def get(config: Any, key: str) -> Any:
    """A value; None if the version has no such key."""
    return getattr(config, key, None)


def _fraction(config: Any, key: str) -> None:
    value = get(config, key)
    require(value is None or 0 <= value <= 1, f"{key} must be between 0 and 1")


def _check_graphs(config: Any) -> None:
    sizes, most = config.batch_sizes, config.max_batch_size or 0
    if sizes is None:
        return
    require(all(size > 0 for size in sizes), "batch_sizes must be positive")
    require(sizes == sorted(sizes), "batch_sizes must be sorted")
    generated = generated_sizes(most, bool(config.enable_padding))
    require(
        most == 0 or sizes == generated,
        "Please don't set both cuda_graph_config.batch_sizes and "
        "cuda_graph_config.max_batch_size.",
    )


def generated_sizes(most: int, padding: bool) -> list[int]:
    """Batch sizes that are captured for a largest one."""
    if padding:
        sizes = [1, 2, 4] + [i * 8 for i in range(1, 17)]
    else:
        sizes = [*range(1, 32), 32, 64, 128]
    sizes += [2**i for i in range(8, 32) if 2**i <= most]
    return [size for size in sizes if size < most] + [most]


def _check_speculation(config: Any, name: str, main: bool) -> None:
    length = get(config, "max_draft_len")
    if name == "NGramDecodingConfig":
        size = get(config, "max_matching_ngram_size")
        require((2 if main and size is None else size) > 0, "n-gram size must be > 0")
    if name == "MTPDecodingConfig" and not main:
        require(config.num_nextn_predict_layers > 0, "num_nextn_predict_layers > 0")
    if name == "UserProvidedDecodingConfig":
        usable = callable(getattr(config.drafter, "prepare_draft_tokens", None))
        require(usable, "drafter: Input should be an instance of Drafter")
    elif name in ONE_LENGTH:
        require(length is not None and length > 0, "max_draft_len must be > 0")
    window = "acceptance_rate_window_size" if main else "acceptance_window"
    require((get(config, window) or 0) >= 0, f"{window} must be >= 0")
    _fraction(config, "acceptance_rate_threshold")


def _check_schedule(config: Any, name: str, main: bool) -> None:
    schedule: Mapping[int, int] | None = get(config, "draft_len_schedule")
    if schedule is None:
        return
    require(schedule, "draft_len_schedule must not be empty")
    length = length_of(config, main)
    require(all(key >= 1 for key in schedule), "draft_len_schedule keys must be >= 1")
    inside = all(v >= 0 and (length is None or v <= length) for v in schedule.values())
    require(inside, f"draft_len_schedule values must be within 0..{length}")
    first = min(schedule)
    if not main:
        require(first == 1, "draft_len_schedule must include batch size 1")
    require(
        length is None or schedule[first] == length,
        f"draft_len_schedule[{first}] must equal max_draft_len ({length})",
    )
    if main:
        require(name not in NO_SCHEDULE, f"{name} does not support draft_len_schedule")
        require(
            get(config, "max_concurrency") is None,
            "draft_len_schedule and max_concurrency cannot be set together",
        )


def length_of(config: Any, main: bool) -> int | None:
    """The draft length that a configuration stands for; None if the checkpoint says."""
    name = type(config).__name__
    if name == "MTPDecodingConfig":
        older = config.num_nextn_predict_layers
        if not main:
            return int(older if older is not None else 1)
        given = "num_nextn_predict_layers" in config.model_fields_set
        return get(config, "max_draft_len") or (older if given else None)
    return get(config, "max_draft_len")


def _check_main(config: Any, name: str) -> None:
    _check_tree(config)
    if name == "MTPDecodingConfig":
        require(config.relaxed_topk > 0, "relaxed_topk must be > 0")
        require(config.relaxed_delta >= 0, "relaxed_delta must be >= 0")
    if name == "SADecodingConfig":
        size = config.max_matching_ngram_size
        pooled = bool(config.enable_global_pool)
        require(size == -1 or size > 0, "max_matching_ngram_size: -1 or positive")
        require(not pooled or size <= 64, "max_matching_ngram_size: at most 64")
        pool = config.global_pool_size
        require(pool is None or (pooled and pool > 0), "needs enable_global_pool")
    if config.__dict__.get("use_rejection_sampling"):
        _check_rejection(config, name)


def _check_tree(config: Any) -> None:
    if not get(config, "use_dynamic_tree"):
        return
    top_k, length = config.dynamic_tree_max_topK, get(config, "max_draft_len")
    require(top_k is not None and top_k > 0, "dynamic_tree_max_topK must be > 0")
    total = get(config, "max_total_draft_tokens")
    if total is not None and length is not None:
        require(
            length <= total <= top_k * length,
            "max_total_draft_tokens must be between max_draft_len and "
            "dynamic_tree_max_topK * max_draft_len",
        )


def _check_rejection(config: Any, name: str) -> None:
    what = "use_rejection_sampling is not supported"
    require(name not in NO_REJECTION, f"{what} with {name}")
    require(get(config, "sa_config") is None, f"{what} with sa_config")
    top_k = get(config, "dynamic_tree_max_topK") or 0
    require(top_k <= MOST_TOP_K, f"{what} with dynamic_tree_max_topK > {MOST_TOP_K}")
    relaxed = get(config, "use_relaxed_acceptance_for_thinking")
    require(not relaxed, f"{what} with relaxed acceptance")
