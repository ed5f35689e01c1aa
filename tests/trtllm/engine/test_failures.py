"""Every known failure is explained by a line as its program writes it; no other is."""

import re

import pytest
from packaging.version import Version

from tests.trtllm.engine.samples import recipe
from trtspec.build.command import CommandError
from trtspec.recipe import EngineOptions, Limits, Target
from trtspec.trtllm import facts
from trtspec.trtllm.engine.failures import explained, known_failure
from trtspec.trtllm.versions import contains

V1 = Version("1.2.1")
FILE = "/usr/local/lib/python3.12/dist-packages/tensorrt_llm"
ASSERTED = "[TensorRT-LLM][ERROR] Assertion failed:"

LINES = {
    "unrecognized_arguments": "trtllm-build: error: unrecognized arguments: --dry",
    "invalid_choice": "trtllm-build: error: argument --gemm_plugin: invalid choice: "
    "'fp8' (choose from 'auto', 'float16')",
    "examples_mismatch": "ModuleNotFoundError: No module named 'tensorrt_llm.models'",
    "transformers_mismatch": "ValueError: The checkpoint you are trying to load has "
    "model type `qwen3` but Transformers does not recognize this architecture.",
    "eagle_head_without_bias": "KeyError: 'fc.bias'",
    "tied_head_missing": "KeyError: 'lm_head.weight'",
    "weights_missing": "RuntimeError: Required but not provided tensors:"
    "{'medusa_heads.3.lm_head.weight'}",
    "calibration_data": "ConnectionError: Couldn't reach 'abisee/cnn_dailymail' on the "
    "Hub (LocalEntryNotFoundError)",
    "context_logits_with_draft": "RuntimeError: Gather context logits is not support "
    "with draft len > 0. If want to get the accepted tokens' logits from target model",
    "profiles_and_opt_tokens": "RuntimeError: multiple_profiles is enabled, while "
    "opt_num_tokens is set. They are not supposed to be working in the same time",
    "unsupported_architecture": "AssertionError: Unsupported model architecture: Foo",
    "plugin_not_on_gpu": "NotImplementedError: low_latency_gemm_plugin=fp8 is not "
    "supported on SM 100.",
    "fp8_not_on_gpu": "[TRT] [E] IBuilder::buildSerializedNetwork: Error Code 9: "
    "Internal Error (Networks with FP8 precision require hardware with FP8 support.)",
    "quantization_not_on_gpu": "RuntimeError: SmoothQuant is not supported on SM>=100.",
    "engine_build_failed": "AssertionError: Engine building failed, please check the "
    "error log.",
    "engine_of_other_version": "[TensorRT-LLM][ERROR] IRuntime::deserializeCudaEngine: "
    "Error Code 1: Serialization (Serialization assertion stdVersionRead == "
    "kSERIALIZATION_VERSION failed.Version tag does not match.)",
    "block_reuse_off": f"{ASSERTED} KV cache block reuse must be enabled for "
    "speculative decoding target model (trtGptModelInflightBatching.cpp:293)",
    "blocks_not_onboarded": f"{ASSERTED} KV cache blocks need to be onboarded if "
    "context FMHA. (trtGptModelInflightBatching.cpp:301)",
    "draft_capacity_zero": f"{ASSERTED} Number of draft tokens (5) is larger than "
    "maximum number of draft tokens (0)",
    "draft_too_long": "Draft tokens length (12) exceeds maximum draft tokens length "
    "(8)",
    "vocabulary_rows_differ": f"{ASSERTED} Incompatible buffer sizes: 128256 != 151936",
    "empty_draft": f"{ASSERTED} !mTokens.empty() (externalDraftTokensConfig.cpp:31)",
    "beam_search": f"{ASSERTED} Can't use speculative decoding with beam search.",
    "sequence_too_long": "Prompt length (9000) exceeds maximum input length (8192).",
    "tree_too_deep": f"{ASSERTED} Choices require larger maxPathLen than the engine "
    "was built with.",
    "eagle_tree_depth": f"{ASSERTED} EAGLE-1 requires Eagle-tree depth being equal to "
    "the the number of build-time EAGLE layers.",
    "eagle_tree_level": f"{ASSERTED} Choices tree at level 2 has 11 non leaf nodes, "
    "while only 10 are allowed.",
    "tree_kernel_missing": f"{ASSERTED} No available XQA kernels are found for "
    "speculative decoding mode. (attentionOp.cpp:2083)",
    "lookahead_draft_length": f"{ASSERTED} 15 != 83 (/src/tensorrt_llm/cpp/"
    "tensorrt_llm/layers/lookaheadDecodingLayer.cpp:56)",
    "lookahead_request_refused": "Cannot set the request lookahead decoding "
    "configuration when model instance lookahead parameters are not set.",
    "speculation_module_missing": f"{ASSERTED} Speculative decoding module is not set "
    "to decoder domain (decodingParams.h:97)",
    "lookahead_kernel": "[TensorRT-LLM][ERROR] CUDA runtime error in "
    "cudaGetLastError(): invalid configuration argument (kvCacheUpdateKernels.cu:200)",
    "fused_step_off": f"{ASSERTED} Current speculative decoding mode requires "
    "context-gen fusion IFB",
    "gpu_out_of_memory": "[TRT] [E] Error Code 2: OutOfMemory (Requested size was "
    "17179869184 bytes.)",
    "gpu_out_of_memory_converting": "torch.OutOfMemoryError: CUDA out of memory. Tried "
    "to allocate 16.00 GiB.",
    "killed": "Killed",
    "disk_full": "OSError: [Errno 28] No space left on device: 'rank0.engine'",
    "tensorrt_missing": "ModuleNotFoundError: No module named 'tensorrt'",
    "driver_too_old": "RuntimeError: CUDA driver version is insufficient for CUDA "
    "runtime version",
}
"""A line of a real program, other than the facts' own example where there is one."""

FAILURES = facts.failures()


def version_of(failure):
    return V1 if contains(failure.versions, V1) else Version("0.18.0")


def test_every_known_failure_has_a_line_here():
    assert set(LINES) == {failure.name for failure in FAILURES}


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.name)
def test_line_is_explained_in_each_of_its_stages(failure):
    for line in (LINES[failure.name], failure.example):
        for stage in failure.stages:
            lines = ["Traceback (most recent call last):", line]
            assert known_failure(lines, stage, version_of(failure)) == failure


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: failure.name)
def test_line_means_nothing_in_another_stage(failure):
    for stage in {"convert", "quantize", "build", "run"} - set(failure.stages):
        found = known_failure([LINES[failure.name]], stage, version_of(failure))
        assert found != failure


def test_failure_that_was_mended_means_nothing_later():
    line = [LINES["tied_head_missing"]]
    assert known_failure(line, "convert", Version("0.18.0")) is not None
    assert known_failure(line, "convert", Version("0.19.0")) is None


@pytest.mark.parametrize(
    "line",
    [
        "RuntimeError: something that nobody has documented",
        "[TRT-LLM] [I] Total time of building all engines: 00:01:12",
        "[TRT-LLM] [W] Paged Context FMHA doesn't work with int8 kv cache currently",
        "UserWarning: cuDNN is not available",
        "KeyError: 'model.layers.0.self_attn.q_proj.weight'",
        "ModuleNotFoundError: No module named 'tensorrt_bindings'",
        "Killed workers: 0",
        "",
    ],
)
def test_other_lines_stay_unexplained(line):
    for stage in ("convert", "quantize", "build", "run"):
        assert known_failure([line], stage, V1) is None


def test_last_line_counts_most():
    lines = [LINES["gpu_out_of_memory"], "  in between", LINES["disk_full"], "the end"]
    assert known_failure(lines, "build", V1).name == "disk_full"
    assert known_failure(lines[:2], "build", V1).name == "gpu_out_of_memory"


def test_line_that_only_points_above_gives_way_to_what_stands_there():
    pointing = LINES["engine_build_failed"]
    lines = [LINES["quantization_not_on_gpu"], "", pointing]
    assert known_failure(lines, "build", V1).name == "quantization_not_on_gpu"
    assert known_failure(["unknown", pointing], "build", V1).name == (
        "engine_build_failed"
    )


def failed(what, *tail):
    return CommandError(what, action="see the log x.log", tail=tail)


def test_explanation_has_the_last_lines_what_it_means_and_what_to_do():
    tail = [f"line {n}" for n in range(20)] + [LINES["eagle_head_without_bias"]]
    error = explained(failed(tail[-1], *tail), "convert", V1)
    (problem,) = error.problems
    known = next(f for f in FAILURES if f.name == "eagle_head_without_bias")
    assert problem.what.splitlines() == [
        "KeyError: 'fc.bias'",
        *(f"  | line {n}" for n in range(9, 20)),
        "  | KeyError: 'fc.bias'",
        f"  meaning: {known.meaning} ({known.source})",
    ]
    assert problem.action == known.action.removesuffix(".") + "; see the log x.log"
    assert error.tail == tuple(tail)


def test_unknown_failure_has_the_last_lines_only():
    error = explained(failed("no idea", "first", "no idea"), "build", V1)
    (problem,) = error.problems
    assert problem.what == "no idea\n  | first\n  | no idea"
    assert problem.action == "see the log x.log"


def test_program_that_was_killed_is_explained_without_a_line_of_its_own():
    what = "ended by signal 9: the system may be out of memory"
    error = explained(failed(what, "working ..."), "build", V1)
    assert "ended the process, most often for want of main memory" in str(error)


def test_failure_without_output_is_told_too():
    error = explained(failed("exit status 3"), "build", V1)
    assert error.problems[0].what == "exit status 3"


def test_keys_that_are_to_be_changed_are_keys_of_a_recipe():
    known = {
        "speculation": {"method", "draft_length"} | keys_of(recipe("draft_target")),
        "target": set(Target.model_fields),
        "limits": set(Limits.model_fields),
        "engine": set(EngineOptions.model_fields),
    }
    named = {
        (section, key)
        for failure in FAILURES
        for section, key in re.findall(
            r"\b(target|limits|engine|speculation)\.(\w+)", failure.action
        )
    }
    assert len(named) > 5
    assert all(key in known[section] for section, key in named)


def keys_of(made):
    return set(type(made.speculation).model_fields)


@pytest.mark.parametrize(
    "name",
    ["blocks_not_onboarded", "fused_step_off", "lookahead_request_refused",
     "lookahead_draft_length", "beam_search", "block_reuse_off", "empty_draft"],
)  # fmt: skip
def test_what_no_recipe_decides_is_to_be_reported(name):
    action = next(f.action for f in FAILURES if f.name == name)
    assert action.startswith("Report it: trtspec ")


def test_out_of_memory_names_limits_only_where_they_have_an_effect():
    line = [LINES["gpu_out_of_memory_converting"]]
    for stage in ("convert", "quantize"):
        assert "limits." not in known_failure(line, stage, V1).action
    for stage in ("build", "run"):
        assert "limits.max_batch_size" in known_failure(line, stage, V1).action
