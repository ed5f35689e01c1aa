"""How trtllm-build is called: mode, plugin, logits, workers and further flags."""

import pytest

from tests.trtllm.engine.samples import VERSIONS, call, recipe, stages, tools
from trtspec.errors import BuildError
from trtspec.trtllm.engine.compile import (
    build_flags,
    gemm_plugin,
    mode_of,
    target_command,
)
from trtspec.trtllm.engine.sizes import target_sizes

MODES = {
    "none": "none",
    "ngram": "draft_tokens_external",
    "draft_target": "draft_tokens_external",
    "medusa": "medusa",
    "eagle": "eagle",
    "redrafter": "explicit_draft_tokens",
    "lookahead": "lookahead_decoding",
}


def flags(made, stage="build-target", version="1.2.1"):
    """Give flags with their values; a switch has none."""
    words = call(made, stage, version)[1:]
    starts = [i for i, word in enumerate(words) if word.startswith("--")]
    spans = zip(starts, [*starts[1:], len(words)], strict=True)
    return {words[start]: " ".join(words[start + 1 : end]) for start, end in spans}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(("method", "mode"), MODES.items())
def test_mode_of_each_method(method, mode, version):
    assert mode_of(recipe(method)) == mode
    given = flags(recipe(method), version=version).get("--speculative_decoding_mode")
    assert given == (None if mode == "none" else mode)


@pytest.mark.parametrize(
    ("method", "length"),
    [("none", None), ("ngram", "4"), ("draft_target", "4"), ("lookahead", "15"),
     ("medusa", None), ("eagle", None), ("redrafter", None)],
)  # fmt: skip
def test_draft_length_is_given_where_the_checkpoint_does_not_carry_it(method, length):
    assert flags(recipe(method)).get("--max_draft_len") == length


@pytest.mark.parametrize("method", MODES)
def test_only_redrafter_asks_for_packed_input(method):
    asked = flags(recipe(method)).get("--remove_input_padding")
    assert asked == ("enable" if method == "redrafter" else None)


@pytest.mark.parametrize("method", MODES)
def test_what_versions_have_other_defaults_for_is_always_given(method):
    found = flags(recipe(method))
    assert found["--use_paged_context_fmha"] == "enable"
    assert found["--max_beam_width"] == "1"
    assert found["--gemm_plugin"] == "float16"


@pytest.mark.parametrize(
    ("dtype", "quantization", "chosen", "plugin"),
    [
        ("bfloat16", "none", None, "bfloat16"),
        ("float32", "none", None, "float32"),
        ("bfloat16", "fp8", None, "auto"),
        ("float16", "int4_awq", None, "auto"),
        ("bfloat16", "none", "disable", "disable"),
        ("bfloat16", "fp8", "fp8", "fp8"),
        ("bfloat16", "nvfp4", None, "nvfp4"),
        ("bfloat16", "nvfp4", "auto", "auto"),
    ],
)
def test_gemm_plugin_is_the_models_type_unless_quantized_or_chosen(
    dtype, quantization, chosen, plugin
):
    target = {"dtype": dtype, "quantization": quantization}
    made = recipe(target=target, engine={"gemm_plugin": chosen})
    assert gemm_plugin(made, quantization) == plugin
    assert flags(made)["--gemm_plugin"] == plugin


def test_each_engine_has_the_plugin_of_its_own_quantization():
    made = recipe("draft_target", target={"quantization": "fp8"})
    assert flags(made)["--gemm_plugin"] == "auto"
    assert flags(made, "build-draft")["--gemm_plugin"] == "float16"


@pytest.mark.parametrize("asked", [True, False])
def test_both_engines_gather_logits_only_if_drafts_go_with_theirs(asked):
    made = recipe("draft_target", use_draft_logits=asked)
    for stage in ("build-target", "build-draft"):
        assert ("--gather_generation_logits" in flags(made, stage)) == asked


def test_workers_are_the_gpus_of_each_engine():
    target = {"tensor_parallel": 4}
    made = recipe("draft_target", target=target, tensor_parallel=2)
    assert flags(made)["--workers"] == "4"
    assert flags(made, "build-draft")["--workers"] == "2"
    assert "--workers" not in flags(recipe())


def test_chosen_capacity_is_the_targets_draft_length():
    made = recipe("draft_target", draft_length=4, engine={"max_draft_length": 12})
    assert flags(made)["--max_draft_len"] == "12"
    assert flags(made, "build-draft")["--max_seq_len"] == "2060"
    assert "--max_draft_len" not in flags(made, "build-draft")


def test_draft_length_within_the_capacity_does_not_change_the_commands():
    keys = [
        {name: stage.key for name, stage in stages(made).items()}
        for made in (
            recipe("draft_target", draft_length=length, engine={"max_draft_length": 12})
            for length in (4, 9)
        )
    ]
    assert keys[0] == keys[1]


def test_further_flags_come_last_and_a_switch_is_given_or_left_out():
    extra = {"tokens_per_block": 64, "strip_plan": False, "fast_build": True}
    assert list(build_flags(extra)) == ["--fast_build", "--tokens_per_block", 64]
    words = call(recipe(engine={"build_flags": extra}), "build-target")
    assert words[-3:] == ["--fast_build", "--tokens_per_block", "64"]


@pytest.mark.parametrize(
    ("version", "name", "value", "message"),
    [
        ("0.17.0", "tokens_per_block", 64, "TensorRT-LLM 0.17.0 has no flag"),
        ("1.2.1", "auto_parallel", 2, "no flag --auto_parallel"),
        ("1.2.1", "multiple_profiles", "on", "allowed: enable, disable"),
        ("1.2.1", "fast_build", "yes", "--fast_build yes: takes no value"),
        ("1.2.1", "multiple_profiles", True, "needs a value"),
        ("1.2.1", "max_lora_rank", "many", "number of kind int"),
    ],
)  # fmt: skip
def test_flag_that_the_version_would_not_take_is_refused(version, name, value, message):
    made = recipe(engine={"build_flags": {name: value}})
    with pytest.raises(BuildError, match=message):
        target_command(tools(version), made, target_sizes(made), "convert-target")
