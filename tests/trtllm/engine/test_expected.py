"""What config.json must say, per method and option, with the numbers worked out."""

import pytest

from tests.trtllm.engine.samples import recipe
from trtspec.trtllm.engine import expected
from trtspec.trtllm.engine.readback import differences
from trtspec.trtllm.engine.sizes import draft_sizes, target_sizes

PLAIN = {
    "architecture": "LlamaForCausalLM",
    "dtype": "float16",
    "mapping": {"tp_size": 1},
    "quantization": {"quant_algo": None, "kv_cache_quant_algo": None},
}
SPECULATIVE = {
    "none": {},
    "ngram": {},
    "lookahead": {},
    "medusa": {
        "architecture": "MedusaForCausalLM",
        "max_draft_len": 63,
        "num_medusa_heads": 4,
        "num_medusa_layers": 1,
    },
    "eagle": {
        "architecture": "EagleForCausalLM",
        "max_draft_len": 63,
        "num_eagle_layers": 4,
        "max_non_leaves_per_layer": 10,
    },
    "redrafter": {
        "architecture": "ReDrafterForLLaMALM",
        "redrafter_num_beams": 5,
        "redrafter_draft_len_per_beam": 5,
        "redrafter_greedy_search": True,
    },
}
# mode, draft length, input, sequence with draft (and EAGLE's 4 layers), and what a
# draft from outside needs besides: 4 + 1
BUILT = {
    "none": (1, 0, 1024, 2048),
    "ngram": (2, 4, 2048, 2057),
    "medusa": (4, 63, 1024, 2111),
    "lookahead": (8, 15, 1024, 2063),
    "redrafter": (16, 25, 1024, 2073),
    "eagle": (32, 63, 1024, 2115),
}


def engine(method="none", pretrained=None, plugins=None, **built):
    """Give what the config.json of a sound engine says; changes on top."""
    mode, draft, longest_input, longest = BUILT[method]
    return {
        "version": "1.2.1",
        "pretrained_config": PLAIN | SPECULATIVE[method] | (pretrained or {}),
        "build_config": {
            "speculative_decoding_mode": mode,
            "max_draft_len": draft,
            "max_batch_size": 4,
            "max_input_len": longest_input,
            "max_seq_len": longest,
            "max_num_tokens": 8192,
            "max_beam_width": 1,
            "gather_generation_logits": False,
            "plugin_config": {"gemm_plugin": "float16", "use_paged_context_fmha": True}
            | (plugins or {}),
        }
        | built,
    }


def faults(config, made):
    """Give what is said of an engine: wrong, and merely changed."""
    wanted = expected.target_engine(made, target_sizes(made), "1.2.1")
    found = list(differences(config, wanted))
    return (
        [str(d) for d in found if d.wrong],
        [str(d) for d in found if not d.wrong],
    )


@pytest.mark.parametrize("method", BUILT)
def test_sound_engine_is_as_planned(method):
    assert faults(engine(method), recipe(method)) == ([], [])


def changed(key, value, method):
    """Give a sound engine whose ``key`` says something else."""
    config = engine(method)
    *steps, last = key.split(".")
    inner = config
    for step in steps:
        inner[step] = dict(inner[step])
        inner = inner[step]
    inner[last] = value
    return config


@pytest.mark.parametrize("method", BUILT)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("build_config.speculative_decoding_mode", 64),
        ("build_config.max_draft_len", 99),
        ("build_config.max_batch_size", 3),
        ("build_config.max_batch_size", 5),
        ("build_config.max_input_len", 1000),
        ("build_config.max_seq_len", 2047),
        ("build_config.max_num_tokens", 8191),
        ("build_config.max_beam_width", 2),
        ("build_config.plugin_config.gemm_plugin", None),
        ("pretrained_config.dtype", "bfloat16"),
        ("pretrained_config.mapping.tp_size", 2),
        ("pretrained_config.quantization.quant_algo", "FP8"),
        ("pretrained_config.quantization.kv_cache_quant_algo", "INT8"),
    ],
)
def test_engine_that_differs_in_one_key_is_wrong(method, key, value):
    wrong, _ = faults(changed(key, value, method), recipe(method))
    assert len(wrong) == 1
    assert wrong[0].startswith(f"{key} is {value}, planned was ")


@pytest.mark.parametrize(
    ("method", "key", "value"),
    [(method, key, 999 if isinstance(value, int) else "Other")
     for method, keys in SPECULATIVE.items() for key, value in keys.items()],
)  # fmt: skip
def test_what_a_method_adds_to_the_checkpoint_is_held(method, key, value):
    made = recipe(method)
    wrong, _ = faults(changed(f"pretrained_config.{key}", value, method), made)
    assert any(fault.startswith(f"pretrained_config.{key} is") for fault in wrong)
    held = expected.target_checkpoint(made)
    found = list(differences(PLAIN | SPECULATIVE[method] | {key: value}, held))
    assert [d.key for d in found if d.wrong] == [key]


@pytest.mark.parametrize(
    ("method", "weights", "cache", "is_held"),
    [("none", "none", "auto", True), ("medusa", "none", "auto", True),
     ("redrafter", "none", "auto", True), ("lookahead", "fp8", "auto", True),
     ("none", "nvfp4", "fp8", True), ("none", "none", "int8", False),
     ("medusa", "fp8", "int8", False), ("none", "int4_awq", "fp8", False),
     ("ngram", "none", "int8", True), ("eagle", "none", "fp8", True)],
)  # fmt: skip
def test_paged_context_is_held_unless_the_kv_cache_switches_it_off(
    method, weights, cache, is_held
):
    made = recipe(
        method, target={"quantization": weights}, engine={"kv_cache": cache}
    )  # fmt: skip
    key = "build_config.plugin_config.use_paged_context_fmha"
    text = f"{key} is False, planned was True"
    wrong, told = faults(changed(key, False, method), made)
    assert (text in wrong, text in told) == (is_held, not is_held)


@pytest.mark.parametrize("version", ["1.2.0", "1.2.1rc1", "0.20.0", "", None])
def test_engine_of_another_version_is_wrong(version):
    for method in ("none", "ngram"):
        built = {**engine(method), "version": version}
        wrong, _ = faults(built, recipe(method))
        assert f"version is {version}, planned was 1.2.1" in wrong


def test_engine_of_the_same_version_built_otherwise_is_no_other():
    assert faults({**engine("none"), "version": "1.2.1+cu13"}, recipe()) == ([], [])


def test_larger_lengths_are_only_told():
    built = engine("ngram", max_seq_len=4096, max_num_tokens=16384)
    wrong, told = faults(built, recipe("ngram"))
    assert wrong == []
    assert told == [
        "build_config.max_num_tokens is 16384, planned was 8192",
        "build_config.max_seq_len is 4096, planned was 2057",
    ]


@pytest.mark.parametrize(
    ("quantization", "algorithm"),
    [
        ("fp8", "FP8"),
        ("nvfp4", "NVFP4"),
        ("int4_awq", "W4A16_AWQ"),
        ("int8_wo", "W8A16"),
        ("int8_sq", "W8A8_SQ_PER_CHANNEL"),
        ("int8_sq", "W8A8_SQ_PER_CHANNEL_PER_TOKEN_PLUGIN"),
    ],
)
def test_algorithm_of_each_quantization(quantization, algorithm):
    made = recipe(target={"quantization": quantization})
    cache = "FP8" if quantization in ("fp8", "nvfp4") else None
    quantized = {"quant_algo": algorithm, "kv_cache_quant_algo": cache}
    pretrained = {"quantization": quantized}
    plugins = {"gemm_plugin": "nvfp4"} if quantization == "nvfp4" else {}
    assert faults(engine(pretrained=pretrained, plugins=plugins), made) == ([], [])
    wrong, _ = faults(engine(), made)
    assert f"quantization.quant_algo is None, planned was {algorithm[:4]}" in wrong[0]


@pytest.mark.parametrize(
    ("chosen", "written", "is_fine"),
    [
        ("disable", None, True),
        ("disable", "disable", True),
        ("disable", "float16", False),
        ("auto", "float16", True),
        ("auto", "auto", True),
        ("auto", None, False),
        ("fp8", "fp8", True),
        ("fp8", "float16", False),
    ],
)
def test_gemm_plugin_may_be_written_in_other_words(chosen, written, is_fine):
    made = recipe(engine={"gemm_plugin": chosen})
    wrong, _ = faults(engine(plugins={"gemm_plugin": written}), made)
    assert (wrong == []) == is_fine


@pytest.mark.parametrize(
    ("chosen", "written", "is_fine"),
    [
        (None, "nvfp4", True),
        ("auto", "nvfp4", True),
        ("float16", "nvfp4", True),
        ("disable", None, True),
        (None, "float16", False),
        ("disable", "nvfp4", False),
    ],
)
def test_gemm_plugin_of_nvfp4_is_its_own_unless_disabled(chosen, written, is_fine):
    made = recipe(target={"quantization": "nvfp4"}, engine={"gemm_plugin": chosen})
    quantized = {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}
    config = engine(
        pretrained={"quantization": quantized}, plugins={"gemm_plugin": written}
    )
    assert (faults(config, made)[0] == []) == is_fine


def test_engine_of_eagle_may_lack_room_for_its_layers():
    assert faults(engine("eagle", max_seq_len=2111), recipe("eagle")) == ([], [])
    wrong, _ = faults(engine("eagle", max_seq_len=2110), recipe("eagle"))
    assert wrong == ["build_config.max_seq_len is 2110, planned was 2111"]


@pytest.mark.parametrize("method", ["medusa", "eagle"])
def test_base_of_the_rotary_encoding_is_held_where_it_is_given(method):
    made = recipe(method)
    config = PLAIN | SPECULATIVE[method]
    held = expected.target_checkpoint(made, 500000.0)
    assert list(differences(config | {"rotary_base": 500000}, held)) == []
    found = [str(d) for d in differences(config | {"rotary_base": 10000.0}, held)]
    assert found == ["rotary_base is 10000.0, planned was 500000.0"]
    whole = expected.target_engine(made, target_sizes(made), "1.2.1", 500000.0)
    assert "pretrained_config.rotary_base" in {one.key for one in whole}


@pytest.mark.parametrize(
    "made",
    [recipe(), recipe("redrafter"), recipe("medusa", target={"quantization": "fp8"})],
)
def test_scripts_that_read_the_model_are_not_told_the_base(made):
    keys = {one.key for one in expected.target_checkpoint(made, 500000.0)}
    assert "rotary_base" not in keys


@pytest.mark.parametrize("asked", [True, False])
def test_draft_engine_is_plain_reuses_its_cache_and_gathers_as_asked(asked):
    made = recipe("draft_target", use_draft_logits=asked)
    wanted = expected.draft_engine(made, made.speculation, draft_sizes(made), "1.2.1")
    config = engine(max_input_len=2048, max_seq_len=2052)
    config["build_config"]["gather_generation_logits"] = asked
    assert list(differences(config, wanted)) == []
    for change in (
        {"gather_generation_logits": not asked},
        {"speculative_decoding_mode": 2},
        {"max_draft_len": 4},
        {"max_seq_len": 2051},
        {"plugin_config": {"gemm_plugin": "float16", "use_paged_context_fmha": False}},
    ):
        other = {**config, "build_config": config["build_config"] | change}
        assert [d.wrong for d in differences(other, wanted)] == [True], change


def test_draft_checkpoint_has_its_own_quantization_and_gpus():
    made = recipe("draft_target", quantization="fp8", tensor_parallel=2)
    quantized = {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}
    config = PLAIN | {"quantization": quantized, "mapping": {"tp_size": 2}}
    assert (
        list(differences(config, expected.draft_checkpoint(made, made.speculation)))
        == []
    )
    assert (
        len(list(differences(PLAIN, expected.draft_checkpoint(made, made.speculation))))
        == 3
    )


def test_base_of_a_drafter_is_held_as_a_model_of_its_own():
    held = expected.base_checkpoint(recipe("redrafter"))
    assert list(differences(PLAIN, held)) == []


def test_further_flags_that_the_engine_shows_are_reported():
    flags = {"multiple_profiles": "enable", "fast_build": True, "max_lora_rank": 8}
    made = recipe(engine={"build_flags": flags})
    key = "build_config.plugin_config.multiple_profiles"
    assert faults(engine(plugins={"multiple_profiles": True}), made) == ([], [])
    assert faults(engine(plugins={"multiple_profiles": False}), made) == (
        [], [f"{key} is False, planned was True"],
    )  # fmt: skip
