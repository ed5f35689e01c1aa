"""What does the top level demand of its values together?"""

from __future__ import annotations

from typing import Any

TENSORRT_ONLY = {"MedusaDecodingConfig", "LookaheadDecodingConfig"}


def check_top_level(args: Any, family: str) -> None:
    """Raise ValueError for arguments that do not go together."""
    _positive(args)
    speculation = args.speculative_config
    if speculation is None:
        return
    name = type(speculation).__name__
    _require(
        name not in TENSORRT_ONLY,
        f"{name} is not supported by the PyTorch backend",
    )
    _require(
        args.pipeline_parallel_size == 1,
        "speculative decoding is not supported with pipeline parallelism",
    )
    if family == "main":
        _check_main(args, speculation, name)


def _check_main(args: Any, speculation: Any, name: str) -> None:
    if getattr(speculation, "use_rejection_sampling", False):
        eagle = name == "Eagle3DecodingConfig"
        guided = getattr(args, "guided_decoding_backend", None) is not None
        spread = args.context_parallel_size > 1
        _require(
            eagle or not (guided or spread),
            "use_rejection_sampling is not supported with guided decoding or context "
            "parallelism",
        )
    pool = getattr(speculation, "global_pool_size", None)
    most = args.max_batch_size or 0
    _require(pool is None or pool >= most, "global_pool_size >= max_batch_size")


def _positive(args: Any) -> None:
    for key in ("max_batch_size", "max_num_tokens", "max_seq_len", "stream_interval"):
        value = getattr(args, key, None)
        _require(value is None or value > 0, f"{key} must be positive")
    window = getattr(args, "perf_metrics_max_requests", 0) or 0
    _require(window >= 0, "perf_metrics_max_requests must be >= 0")
    ratio = getattr(args, "batch_wait_max_tokens_ratio", 0) or 0
    _require(0 <= ratio <= 1, "batch_wait_max_tokens_ratio must be within 0..1")
    requests = getattr(args, "enable_iter_req_stats", False)
    _require(
        not requests or args.enable_iter_perf_stats,
        "enable_iter_req_stats requires enable_iter_perf_stats",
    )


def _require(holds: Any, message: str) -> None:
    if not holds:
        raise ValueError(message)
