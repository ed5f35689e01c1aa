"""Types of target and drafter beside each other, and GPUs without kernels."""

from tests.check.kinds.asking import (
    EAGLE,
    EAGLE3,
    MEDUSA,
    MTP,
    NEWEST,
    NGRAM,
    PAIR,
    ask,
    bad,
    faults,
    good,
    innocents,
    on_engines,
    on_pytorch,
    passes,
    tells,
)

DFLASH = {"method": "dflash", "model": "./dflash-of-qwen3", "draft_length": 8}
LOOKAHEAD = {"method": "lookahead"}
BROKEN = ("combination-broken", "blocking")
FP8_CACHE = on_pytorch(kv_cache="fp8")


def quantized(kind, model="llama"):
    return {"model": f"./{model}", "quantization": kind}


@faults(
    bad(
        "EAGLE on engines in FP8",
        ask(EAGLE, "1.2.1", backend="tensorrt", target=quantized("fp8")),
        "quantization", "blocking", "fp8", "eagle", "quantization: none",
    ),
    bad(
        "a draft model in FP8 of the target's own",
        ask({**PAIR, "quantization": "fp8"}, "1.2.1"),
        "quantization", "blocking", "fp8", "draft model",
    ),
    bad(
        "an FP8 cache and a head in 16 bits",
        ask(EAGLE3, "1.1.0", sections=FP8_CACHE),
        "combination-untested", "warning", "kv_cache fp8", "bfloat16",
    ),
    bad(
        "a block drafter beside NVFP4",
        ask(DFLASH, NEWEST, target=quantized("nvfp4", "qwen3"), requests=[{}]),
        "draft-precision", "note", "nvfp4 weights", "dflash",
    ),
    bad(
        "next-token heads inside an FP8 target",
        ask(MTP, NEWEST, target="deepseek"),
        "draft-precision", "note", "fp8", "16 bits",
    ),
    bad(
        "a head in 16 bits beside MXFP4",
        ask({**EAGLE3, "model": "./head-of-gpt-oss"}, NEWEST, target="gpt-oss"),
        "draft-precision", "note", "mxfp4", "bfloat16",
    ),
    bad(
        "Medusa on weights of 4 bits",
        ask(MEDUSA, "1.2.1", backend="tensorrt", target=quantized("int4_awq")),
        "combination-untested", "warning", "medusa", "int4_awq", "fp8 or none",
    ),
    bad(
        "another quantization than is stored",
        ask(NGRAM, "1.2.1", target=quantized("fp8", "gpt-oss"), requests=[{}]),
        "quantization", "blocking", "fp8", "mxfp4",
    ),
)  # fmt: skip
def test_types_that_do_not_go_together(place, asked, told):
    """vLLM PRs 24505, 48787, 26590, #44879; TensorRT-LLM #3207."""
    tells(place.check(**asked), *told)


@innocents(
    good("16 bits and 16 bits", ask(EAGLE3, "1.1.0")),
    good(
        "n-gram beside FP8", ask(NGRAM, "1.2.1", target=quantized("fp8"), requests=[{}])
    ),
    good("an FP8 cache on the newest", ask(EAGLE3, NEWEST, sections=FP8_CACHE)),
    good(
        "a draft in 16 bits beside what is stored in 4",
        ask(NGRAM, NEWEST, target="gpt-oss"),
    ),
)
def test_types_that_go_together(place, asked, rules):
    found = [f for f in place.check(**asked) if f.severity != "note"]
    passes(found, "draft-precision", "combination-untested", "quantization")


@faults(
    bad(
        "Medusa engines on a B200",
        ask(MEDUSA, "0.20.0", backend="tensorrt", gpu="b200"),
        *BROKEN, "medusa", "10.0", "XQA kernels", "backend: pytorch",
    ),
    bad(
        "lookahead engines on a gaming card",
        ask(LOOKAHEAD, "0.20.0", backend="tensorrt", gpu="rtx 5090"),
        *BROKEN, "lookahead", "12.0", "XQA kernels",
    ),
    bad(
        "one-model EAGLE-3 on a workstation's card",
        ask(EAGLE3, "1.3.0rc4", gpu="rtx pro 6000"),
        *BROKEN, "eagle3", "12.0", "hangs", "12795",
    ),
    bad(
        "the same on the newest, of which nothing is established",
        ask(EAGLE3, NEWEST, gpu="rtx 5090"),
        "combination-untested", "warning", "eagle3", "12.0", "canary",
    ),
    bad(
        "a GPU before Ampere",
        ask(NGRAM, NEWEST, gpu="t4"),
        "gpu-support", "blocking", "T4", "7.5", "8.0",
    ),
    bad(
        "EAGLE engines on a Volta",
        ask(EAGLE, "1.0.0", backend="tensorrt", gpu="v100 32gb"),
        "gpu-support", "blocking", "V100", "7.0", "8.0",
    ),
    bad(
        "FP4 on a Hopper",
        ask(NGRAM, NEWEST, gpu="h100", target=quantized("nvfp4"), requests=[{}]),
        "gpu-type", "blocking", "nvfp4", "9.0", "10.0",
    ),
    bad(
        "an FP8 cache on an Ampere",
        ask(EAGLE3, "1.2.1", gpu="a100-sxm-80gb", sections=FP8_CACHE),
        "gpu-type", "blocking", "kv_cache fp8", "8.0", "8.9",
    ),
    bad(
        "weights of 4 bits in engines for a B200",
        ask(
            NGRAM, "1.2.1", backend="tensorrt", gpu="b200",
            target=quantized("int4_awq"),
        ),
        "gpu-type", "blocking", "int4_awq", "10.0",
    ),
    bad(
        "a plugin that a B200 has not",
        ask(
            NGRAM, "1.2.1", backend="tensorrt", gpu="b200",
            sections=on_engines(build_flags={"low_latency_gemm_plugin": "fp8"}),
        ),
        "build-flags", "blocking", "low_latency_gemm_plugin", "10.0",
    ),
)  # fmt: skip
def test_gpus_without_kernels(place, asked, told):
    """TensorRT-LLM #6158, #2879, #11125, PRs 12795, 10049."""
    tells(place.check(**asked), *told)


@innocents(
    good(
        "Medusa engines on a Hopper",
        ask(MEDUSA, "0.20.0", backend="tensorrt", gpu="h100"),
    ),
    good("EAGLE-3 on a B200", ask({**EAGLE3}, "1.2.1", gpu="h200")),
    good("n-gram on the oldest that is listed", ask(NGRAM, NEWEST, gpu="a30")),
    good(
        "an FP8 cache on an Ada", ask(EAGLE3, "1.2.1", gpu="l40s", sections=FP8_CACHE)
    ),
)
def test_gpus_with_kernels(place, asked, rules):
    passes(place.check(**asked), "combination-broken", "gpu-type", "gpu-support")
