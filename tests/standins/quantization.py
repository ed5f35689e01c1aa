"""Which quantization do flags ask for, in the words of config.json?"""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

FORMATS = {
    "nvfp4": "NVFP4",
    "fp8": "FP8",
    "fp8_pc_pt": "FP8_PER_CHANNEL_PER_TOKEN",
    "int8_sq": "W8A8_SQ_PER_CHANNEL",
    "int4_awq": "W4A16_AWQ",
    "w4a8_awq": "W4A8_AWQ",
    "int8_wo": "W8A16",
    "int4_wo": "W4A16",
    "full_prec": None,
}
WEIGHT_ONLY = {
    "int8": "W8A16",
    "int4": "W4A16",
    "int8_gptq": "W8A16_GPTQ",
    "int4_gptq": "W4A16_GPTQ",
    "int4_awq": "W4A16_AWQ",
}


def quantized(arguments: Json) -> Json:
    """What quantize.py writes under ``quantization``."""
    algorithm = FORMATS[arguments["qformat"]]
    kv_cache = arguments["kv_cache_dtype"]
    found: Json = {
        "quant_algo": algorithm,
        "kv_cache_quant_algo": kv_cache and kv_cache.upper(),
    }
    if algorithm and "AWQ" in algorithm:
        found["group_size"] = arguments["awq_block_size"]
    return found


def converted(arguments: Json) -> Json:
    """What a convert script writes under ``quantization``."""
    int8, fp8 = arguments.get("int8_kv_cache"), arguments.get("fp8_kv_cache")
    return {
        "quant_algo": _algorithm(arguments),
        "kv_cache_quant_algo": "INT8" if int8 else "FP8" if fp8 else None,
    }


def _algorithm(arguments: Json) -> str | None:
    if arguments.get("smoothquant"):
        per_channel = "CHANNEL" if arguments["per_channel"] else "TENSOR"
        per_token = "TOKEN" if arguments["per_token"] else "TENSOR"
        if (per_channel, per_token) == ("TENSOR", "TENSOR"):
            return "W8A8_SQ_PER_TENSOR_PLUGIN"
        return f"W8A8_SQ_PER_{per_channel}_PER_{per_token}_PLUGIN"
    if arguments.get("use_weight_only"):
        return WEIGHT_ONLY[arguments["weight_only_precision"]]
    if arguments.get("use_fp8"):
        return "FP8"
    if arguments.get("use_fp8_rowwise"):
        return "FP8_PER_CHANNEL_PER_TOKEN"
    return "NVFP4" if arguments.get("use_nvfp4") else None
