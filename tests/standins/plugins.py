"""What does trtllm-build write under ``plugin_config``?"""

from __future__ import annotations

from typing import Any

from tests.standins.machine import Machine
from tests.standins.voice import say

Json = dict[str, Any]
SWITCH = {"enable": True, "disable": False}
FIXED: Json = {
    "qserve_gemm_plugin": None,
    "identity_plugin": None,
    "weight_only_groupwise_quant_matmul_plugin": None,
    "weight_only_quant_matmul_plugin": None,
    "smooth_quant_plugins": True,
    "smooth_quant_gemm_plugin": None,
    "layernorm_quantization_plugin": None,
    "rmsnorm_quantization_plugin": None,
    "quantize_per_token_plugin": False,
    "quantize_tensor_plugin": False,
    "paged_kv_cache": None,
}
"""Fields that no flag sets."""
FEATURES = (
    "context_fmha",
    "bert_context_fmha_fp32_acc",
    "remove_input_padding",
    "use_paged_context_fmha",
    "use_fp8_context_fmha",
    "fuse_fp4_quant",
    "multiple_profiles",
    "paged_state",
    "streamingllm",
    "norm_quant_fusion",
    "reduce_fusion",
    "user_buffer",
    "use_fused_mlp",
    "pp_reduce_scatter",
)
FP8_WEIGHTS = {"FP8", "W4A8_AWQ", "NVFP4"}
OLDER_TOKENS_PER_BLOCK = 64
SINCE_BLACKWELL, BEFORE_NEXT = 100, 120
NOT_ON_SM100 = (
    "gemm_swiglu_plugin",
    "fp8_rowwise_gemm_plugin",
    "low_latency_gemm_plugin",
    "low_latency_gemm_swiglu_plugin",
    "bert_context_fmha_fp32_acc",
)


def plugin_config(arguments: Json, dtype: str) -> Json:
    """Plugins as the flags ask for; ``auto`` is the model's type.

    Where the default of --use_paged_context_fmha is not established, it is off.
    """
    found: Json = {"dtype": dtype, **FIXED}
    for name, value in arguments.items():
        if name in FEATURES:
            found[name] = SWITCH[value or "disable"]
        elif name.endswith("_plugin"):
            found[name] = {"auto": dtype, "disable": None, "enable": True}.get(
                value, value
            )
    found["tokens_per_block"] = arguments.get(
        "tokens_per_block", OLDER_TOKENS_PER_BLOCK
    )
    found["manage_weights"] = arguments.get("fast_build", False)
    return found


def adjust(plugins: Json, quantization: Json, machine: Machine) -> None:
    """Switch off what a flag or the KV cache's type excludes, and say so."""
    if not plugins["context_fmha"] or plugins.get("streamingllm"):
        say("[TRT-LLM] [W] Paged Context FMHA is disabled.")
        plugins["use_paged_context_fmha"] = False
    kv_cache, weights = quantization["kv_cache_quant_algo"], quantization["quant_algo"]
    if kv_cache == "INT8" and plugins["use_paged_context_fmha"]:
        say(
            "[TRT-LLM] [W] Paged Context FMHA doesn't work with int8 kv cache "
            "currently, disabling it."
        )
        plugins["use_paged_context_fmha"] = False
    unsuitable = weights not in FP8_WEIGHTS or machine.capability < 89
    if kv_cache == "FP8" and unsuitable and plugins["use_paged_context_fmha"]:
        say(
            "[TRT-LLM] [W] FP8 Paged Context FMHA only works with fp8 quantization "
            "workflow on sm >= 89, disabling it."
        )
        plugins["use_paged_context_fmha"] = False


def choose_gemm(plugins: Json, quantization: Json, asked: str | None) -> None:
    """Take the plugin of NVFP4 for such weights, unless it was asked not to."""
    if quantization["quant_algo"] == "NVFP4" and asked != "disable":
        say("[TRT-LLM] [I] NVFP4 quantization detected, by default enabling NVFP4 GEMM")
        plugins["gemm_plugin"] = "nvfp4"


def require_on_gpu(plugins: Json, machine: Machine) -> None:
    """Refuse plugins that have no kernels on compute capability 10.0.

    :raises NotImplementedError: one of them is asked for.
    """
    for name in NOT_ON_SM100 if machine.capability == SINCE_BLACKWELL else ():
        if value := plugins.get(name):
            raise NotImplementedError(f"{name}={value} is not supported on SM 100.")


def require_supported(quantization: Json, machine: Machine) -> None:
    """Refuse on Blackwell what has no kernels there.

    :raises RuntimeError: the weights or the KV cache are of such a type.
    """
    if not SINCE_BLACKWELL <= machine.capability < BEFORE_NEXT:
        return
    weights = str(quantization["quant_algo"])
    refused = {
        "INT8/INT4 quantization": weights
        in ("W8A16", "W4A16", "W4A16_AWQ", "W4A16_GPTQ"),
        "SmoothQuant": weights.startswith("W8A8_SQ"),
        "Per-channel or per-token scaling": weights == "FP8_PER_CHANNEL_PER_TOKEN",
        "INT8 KV cache": quantization["kv_cache_quant_algo"] == "INT8",
    }
    for what, is_asked in refused.items():
        if is_asked:
            raise RuntimeError(f"{what} is not supported on SM>=100.")
