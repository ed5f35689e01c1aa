"""Each flag counts: misspelled or left out, it fails the build or is told.

What is overlooked when it is left out is listed with the reason; there the command
lines of ``test_command_lines``, ``test_convert`` and ``test_compile`` stand guard.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.version import Version

from tests.trtllm.engine import test_command_lines
from tests.trtllm.engine.mutations import dropped, misspelled, noticed
from tests.trtllm.engine.projects import make_workshop
from tests.trtllm.engine.samples import VERSIONS

TARGET = {"dtype": "bfloat16"}
FP8 = {**TARGET, "quantization": "fp8"}
TOKENS = {"max_num_tokens": 3000}
LIMITS = {"max_total_tokens": 2000}
"""No length or number here is a default of a program."""
RECIPES = {
    "plain": ("none", {}),
    "ngram": ("ngram", {}),
    "draft model": ("draft_target", {"use_draft_logits": True}),
    "medusa": ("medusa", {}),
    "eagle": ("eagle", {"max_non_leaves_per_layer": 3}),
    "redrafter": ("redrafter", {"greedy_search": False, "allow_lossy": True}),
    "lookahead": ("lookahead", {}),
    "qwen": ("none", {"family": "qwen2"}),
    "medusa on qwen": ("medusa", {"family": "qwen2"}),
    "medusa on mixtral": ("medusa", {"family": "mixtral"}),
    "two GPUs": ("none", {"target": {**TARGET, "tensor_parallel": 2}}),
    "two GPUs, medusa": ("medusa", {"target": {**TARGET, "tensor_parallel": 2}}),
    "two GPUs, eagle": ("eagle", {"target": {**TARGET, "tensor_parallel": 2},
                                  "max_non_leaves_per_layer": 3}),
    "two GPUs, redrafter": ("redrafter", {"target": {**TARGET, "tensor_parallel": 2}}),
    "two GPUs, quantized draft": (
        "draft_target",
        {"target": {**TARGET, "tensor_parallel": 2}, "quantization": "fp8",
         "tensor_parallel": 2},
    ),
    "fp8": (
        "ngram",
        {"target": FP8, "engine": {**TOKENS, "max_draft_length": 6,
                                   "calibration_dataset": "/data/cnn_dailymail",
                                   "calibration_samples": 16}},
    ),
    "fp8 medusa": ("medusa", {"target": FP8}),
    "int8 cache": ("none", {"engine": {**TOKENS, "kv_cache": "int8"}}),
    "further flags": (
        "none",
        {"engine": {**TOKENS, "build_flags": {"multiple_profiles": "enable",
                                              "fast_build": True}}},
    ),
}  # fmt: skip

WHY_OVERLOOKED = {
    "--workers": "how many processes work at once: only the time changes",
    "--calib_dataset": "which texts quantize.py calibrates with is written nowhere",
    "--calib_size": "how many of them neither",
    "--max_beam_width": "1 is the default of every version",
    "--remove_input_padding": "enable is the default of every version",
    "--num_medusa_layers": "the script takes it from the heads' own config.json",
    "--fast_build": "how the builder works: only the time changes",
}
"""Flags that can be left out without a trace."""


def is_overlooked(flag, name, version):
    """Whether a flag can be left out without a trace in a recipe."""
    if flag == "--use_paged_context_fmha":
        # enable became the default; an INT8 cache switches it off in any case, and for
        # EAGLE the builder switches it on
        is_settled = name == "int8 cache" or RECIPES[name][0] == "eagle"
        return Version(version) >= Version("0.19") or is_settled
    if flag == "--speculative_decoding_mode":
        # the builder sees a ReDrafter checkpoint and sets the mode itself
        return RECIPES[name][0] == "redrafter"
    if flag == "--rotary_base":
        # the later scripts read it from the model
        return Version(version) >= Version("1.1")
    if flag == "--qformat":
        # where only the cache is quantized it is full_prec, the default
        return name == "int8 cache"
    return flag in WHY_OVERLOOKED


def test_written_command_lines_stand_guard_over_what_is_overlooked():
    lines = Path(test_command_lines.__file__).read_text()
    others = ["--use_paged_context_fmha", "--speculative_decoding_mode", "--qformat"]
    others.append("--rotary_base")
    assert [flag for flag in (*WHY_OVERLOOKED, *others) if flag not in lines] == []


@pytest.fixture
def tried(tmp_path):
    """Try a change of each flag of a recipe's stages."""

    def tried(name, version, change):
        method, fields = RECIPES[name]
        workshop = make_workshop(tmp_path, version)
        usual = {"target": TARGET, "limits": LIMITS, "engine": TOKENS}
        return noticed(workshop, workshop.write(method, **usual | fields), change)

    return tried


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", RECIPES)
def test_misspelled_flag_is_never_overlooked(tried, name, version):
    found = tried(name, version, misspelled)
    assert len(found) >= 12
    assert [flag for flag, is_noticed in found.items() if not is_noticed] == []


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", RECIPES)
def test_flag_that_is_left_out_is_overlooked_only_for_a_reason(tried, name, version):
    found = tried(name, version, dropped)
    overlooked = {flag for flag, is_noticed in found.items() if not is_noticed}
    explained = {
        flag for flag in found if is_overlooked(flag.split()[1], name, version)
    }
    assert overlooked == explained
