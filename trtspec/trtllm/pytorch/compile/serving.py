"""How the target model is served: everything beside ``speculative_config``."""

from __future__ import annotations

from collections.abc import Iterator

from trtspec.trtllm.facts.llm_args import TOP_LEVEL, keys
from trtspec.trtllm.pytorch.compile.experts import EXPERTS
from trtspec.trtllm.pytorch.compile.graphs import graph_settings
from trtspec.trtllm.pytorch.compile.sizes import size_settings, why_no_overlap
from trtspec.trtllm.pytorch.compile.subject import EARLY, Item, Subject, blocking
from trtspec.trtllm.pytorch.settings import Remark, Setting


def serving_items(subject: Subject) -> Iterator[Item]:
    """Give the keys of how the target is served, and what is to be said about them."""
    yield _dtype(subject)
    yield from _parallelism(subject)
    yield from size_settings(subject)
    yield from _kv_cache(subject)
    yield from graph_settings(subject)
    if why := why_no_overlap(subject):
        yield Setting("disable_overlap_scheduler", True, why)
    if subject.options.chunked_prefill:
        why = "split long prompts over several forwards"
        yield Setting("enable_chunked_prefill", True, why)
    yield from _kernels(subject)
    yield from _guided_decoding(subject)
    yield from _sampler(subject)
    yield from _statistics(subject)


def _dtype(subject: Subject) -> Setting:
    target = subject.recipe.target
    stored = subject.target.quantization if subject.target else "none"
    if target.quantization == "none" and stored == "none":
        why = "type that the target computes in"
        if subject.target is None:
            why += "; auto if its checkpoint is quantized"
        return Setting("dtype", target.dtype, why)
    return Setting("dtype", "auto", "the quantized checkpoint's own")


def _parallelism(subject: Subject) -> Iterator[Item]:
    options = subject.options
    gpus = subject.recipe.target.tensor_parallel
    yield Setting("tensor_parallel_size", gpus, "GPUs that share the target")
    if options.expert_parallel is not None:
        yield from _expert_parallel(options.expert_parallel, gpus)
    if options.gpus_per_node is not None:
        yield Setting("gpus_per_node", options.gpus_per_node, "GPUs of one node")
    if options.attention_dp:
        why = "each GPU attends for requests of its own"
        yield Setting("enable_attention_dp", True, why)


def _expert_parallel(experts: int, gpus: int) -> Iterator[Item]:
    if gpus % experts == 0:
        yield Setting(EXPERTS, experts, "GPUs that share the experts")
    else:
        divisors = " or ".join(str(n) for n in range(1, gpus + 1) if gpus % n == 0)
        yield blocking(
            "expert-parallel",
            ("pytorch", "expert_parallel"),
            f"expert_parallel {experts} does not divide target.tensor_parallel {gpus}",
            "experts are shared by equal groups of the GPUs that share the target",
            f"write expert_parallel: {divisors}, or delete it",
        )


def _kv_cache(subject: Subject) -> Iterator[Item]:
    options = subject.options
    fraction = subject.recipe.limits.kv_cache_fraction
    children = [
        Setting(
            "free_gpu_memory_fraction",
            fraction,
            "share of the memory left beside the weights",
        ),
        Setting(
            "enable_block_reuse",
            options.block_reuse,
            "find prompts that ran before again in the cache",
        ),
    ]
    if options.kv_cache != "auto":
        children.append(Setting("dtype", options.kv_cache, "type of keys and values"))
    yield Setting("kv_cache_config", tuple(children))
    flashinfer = options.attention_backend == "FLASHINFER"
    if flashinfer and options.block_reuse and subject.family in EARLY:
        yield Remark(
            "block-reuse",
            "warning",
            ("pytorch", "block_reuse"),
            "no prompt is found again in the KV cache",
            f"TensorRT-LLM {subject.version} switches block reuse off with attention "
            "backend FLASHINFER",
            "write block_reuse: false, or attention_backend: TRTLLM",
            snippet="pytorch:\n  block_reuse: false",
            values={"version": str(subject.version)},
        )


def _kernels(subject: Subject) -> Iterator[Item]:
    options = subject.options
    if options.attention_backend != "TRTLLM":
        yield Setting("attn_backend", options.attention_backend, "attention kernels")
    if options.moe_backend is not None:
        yield _experts(subject, options.moe_backend)


def _experts(subject: Subject, backend: str) -> Item:
    key = keys("MoeConfig", subject.version)["backend"]
    if fault := key.accepts(backend):
        return blocking(
            "moe-backend",
            ("pytorch", "moe_backend"),
            f"moe_backend: {fault}",
            f"those are what TensorRT-LLM {subject.version} has",
            "write one of them, or delete moe_backend",
            values={"moe_backend": backend, "version": str(subject.version)},
        )
    kernels = Setting("backend", backend, "kernels of the experts")
    return Setting("moe_config", (kernels,))


def _guided_decoding(subject: Subject) -> Iterator[Item]:
    chosen = subject.options.guided_decoding
    if chosen == "none":
        return
    speculates, method = subject.shape != "none", subject.method.method
    if subject.family == "1.0" and speculates:
        what = f"TensorRT-LLM {subject.version} has no guided decoding with {method}"
        why = "it came with 1.1, for drafters outside the target's engine"
        source = "tensorrt_llm/_torch/pyexecutor/py_executor_creator.py of 1.0"
    elif subject.family == "1.1" and subject.shape == "one model":
        what = f"whether 1.1 has guided decoding with {method} is not established"
        why = (
            "it is established for drafters outside the target's engine (pull request "
            "6300)"
        )
        source = "https://github.com/NVIDIA/TensorRT-LLM/pull/6300"
    else:
        why = "what enforces grammars and JSON schemas"
        yield Setting("guided_decoding_backend", chosen, why)
        return
    action = "delete pytorch.guided_decoding, or write speculation: {method: none}"
    if subject.family == "1.1" and method == "eagle3":
        action += ", or speculation.two_model: true"
    yield blocking(
        "guided-decoding",
        ("pytorch", "guided_decoding"),
        what,
        why,
        action,
        snippet="pytorch:\n  guided_decoding: none",
        source=source,
        values={"guided_decoding": chosen, "method": method},
    )


def _sampler(subject: Subject) -> Iterator[Setting]:
    if subject.shape == "none" and subject.knows("enable_mixed_sampler", TOP_LEVEL):
        why = "let requests differ in temperature, top-k and top-p"
        yield Setting("enable_mixed_sampler", True, why)


def _statistics(subject: Subject) -> Iterator[Setting]:
    why = "so that /metrics tells what was drafted and accepted"
    yield Setting("enable_iter_perf_stats", True, why)
    if subject.knows("return_perf_metrics", TOP_LEVEL):
        yield Setting(
            "return_perf_metrics", True, "so that there are Prometheus counters"
        )
