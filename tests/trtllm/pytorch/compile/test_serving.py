"""How the target is served: parallelism, cache, graphs, overlap, guided decoding."""

from __future__ import annotations

import pytest

from tests.trtllm.pytorch.compile.recipes import (
    AUTO,
    DRAFT_TARGET,
    EAGLE3,
    LIMITS,
    MTP,
    NEWEST,
    NGRAM,
    NONE,
    SUFFIX,
    USER,
    VERSIONS,
    args,
    compiled,
    refusal,
    target,
    the_remark,
)

TWO = {**EAGLE3, "two_model": True}


def served(version=NEWEST, speculation=NONE, **pytorch):
    return args(version, speculation, pytorch=pytorch)


@pytest.mark.parametrize("version", VERSIONS)
def test_parallelism(version):
    written = args(
        version,
        MTP,
        target={"model": "m", "tensor_parallel": 8},
        pytorch={"expert_parallel": 4, "attention_dp": True, "gpus_per_node": 4},
    )
    assert written["tensor_parallel_size"] == 8
    assert written["moe_expert_parallel_size"] == 4
    assert written["gpus_per_node"] == 4
    assert written["enable_attention_dp"] is True


@pytest.mark.parametrize("version", VERSIONS)
def test_what_a_recipe_does_not_ask_for_is_not_written(version):
    written = args(version, NONE)
    for key in (
        "moe_expert_parallel_size",
        "enable_attention_dp",
        "gpus_per_node",
        "enable_chunked_prefill",
        "disable_overlap_scheduler",
        "guided_decoding_backend",
        "attn_backend",
        "moe_config",
        "trust_remote_code",
        "pipeline_parallel_size",
        "model",
    ):
        assert key not in written


def test_kernels_cache_and_prefill():
    written = served(
        kv_cache="fp8",
        block_reuse=False,
        chunked_prefill=True,
        attention_backend="FLASHINFER",
        moe_backend="TRTLLM",
    )
    assert written["kv_cache_config"] == {
        "free_gpu_memory_fraction": 0.85,
        "enable_block_reuse": False,
        "dtype": "fp8",
    }
    assert written["enable_chunked_prefill"] is True
    assert written["attn_backend"] == "FLASHINFER"
    assert written["moe_config"] == {"backend": "TRTLLM"}


def test_kernels_of_experts_that_the_release_lacks_are_refused():
    remark = refusal("1.0.0", NONE, pytorch={"moe_backend": "MARLIN"})
    assert remark.key == ("pytorch", "moe_backend")
    assert "CUTLASS" in remark.what


@pytest.mark.parametrize(("version", "warns"), [("1.2.1", True), (NEWEST, False)])
def test_flashinfer_turns_block_reuse_off_up_to_1_2(version, warns):
    made = compiled(version, NONE, pytorch={"attention_backend": "FLASHINFER"})
    assert [remark.rule for remark in made.remarks] == ["block-reuse"] * warns


def test_a_quantized_target_keeps_its_own_type():
    quantized = {"model": "m", "quantization": "fp8"}
    assert args(NEWEST, NONE, target=quantized)["dtype"] == "auto"
    half = {"model": "m", "dtype": "float16"}
    assert args(NEWEST, NONE, target=half)["dtype"] == "float16"
    stored = compiled(NEWEST, NONE, target(quantization="mxfp4")).args.to_dict()
    assert stored["dtype"] == "auto"


def test_graphs_can_be_switched_off():
    assert served(cuda_graphs=False)["cuda_graph_config"] is None


@pytest.mark.parametrize("version", ["1.2.1", NEWEST])
def test_given_graph_sizes_are_sorted_and_hold_the_batches_of_the_map(version):
    asked = {**EAGLE3, "draft_length": {8: 4, 32: 2}}
    written = served(version, asked, cuda_graph_batch_sizes=[16, 1, 64])
    assert written["cuda_graph_config"] == {
        "enable_padding": True,
        "batch_sizes": [1, 8, 16, 32, 64],
    }


def test_graph_sizes_above_the_batch_are_left_out_and_named():
    made = compiled(NEWEST, NONE, pytorch={"cuda_graph_batch_sizes": [64, 128, 256]})
    graphs = made.args.to_dict()["cuda_graph_config"]
    assert graphs["batch_sizes"] == [64]
    assert "128, 256" in the_remark(made, "cuda-graphs").what


def test_the_whole_batch_is_captured_if_no_given_size_can_be():
    written = served(cuda_graph_batch_sizes=[128])
    assert written["cuda_graph_config"]["batch_sizes"] == [64]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("speculation", [NGRAM, USER, AUTO])
def test_drafts_from_outside_go_without_the_overlap_scheduler(version, speculation):
    assert args(version, speculation)["disable_overlap_scheduler"] is True


@pytest.mark.parametrize(
    ("version", "speculation", "pytorch", "off"),
    [
        ("1.0.0", DRAFT_TARGET, {}, True),
        ("1.0.0", TWO, {}, True),
        ("1.0.0", EAGLE3, {}, False),
        ("1.1.0", DRAFT_TARGET, {}, False),
        ("1.1.0", TWO, {"guided_decoding": "xgrammar"}, False),
        ("1.2.1", TWO, {}, False),
        ("1.2.1", TWO, {"guided_decoding": "xgrammar"}, True),
        ("1.2.1", TWO, {"attention_backend": "FLASHINFER"}, True),
        ("1.2.1", EAGLE3, {"attention_backend": "FLASHINFER"}, False),
        (NEWEST, DRAFT_TARGET, {}, False),
        (NEWEST, SUFFIX, {}, False),
        (NEWEST, NONE, {"overlap_scheduler": False}, True),
    ],
)
def test_who_else_goes_without_it(version, speculation, pytorch, off):
    written = args(version, speculation, pytorch=pytorch)
    assert written.get("disable_overlap_scheduler", False) is off


GUIDED = {"pytorch": {"guided_decoding": "llguidance"}}


@pytest.mark.parametrize(
    ("version", "speculation"),
    [
        ("1.0.0", NONE),
        ("1.1.0", NONE),
        ("1.1.0", TWO),
        ("1.1.0", DRAFT_TARGET),
        ("1.1.0", NGRAM),
        ("1.1.0", USER),
        ("1.2.1", EAGLE3),
        ("1.2.1", NGRAM),
        (NEWEST, MTP),
    ],
)
def test_guided_decoding_where_the_release_has_it(version, speculation):
    written = args(version, speculation, **GUIDED)
    assert written["guided_decoding_backend"] == "llguidance"


@pytest.mark.parametrize(
    ("version", "speculation", "offered"),
    [
        ("1.0.0", TWO, "method: none"),
        ("1.0.0", NGRAM, "method: none"),
        ("1.1.0", EAGLE3, "two_model: true"),
        ("1.1.0", MTP, "method: none"),
    ],
)
def test_guided_decoding_is_refused_elsewhere(version, speculation, offered):
    remark = refusal(version, speculation, **GUIDED)
    assert remark.key == ("pytorch", "guided_decoding")
    assert offered in remark.action
    assert ("not established" in remark.what) == (version == "1.1.0")


def test_experts_are_shared_by_equal_groups_of_the_gpus():
    target = {"model": "m", "tensor_parallel": 6}
    sections = {"target": target, "pytorch": {"expert_parallel": 4}}
    remark = refusal(NEWEST, MTP, **sections)
    assert remark.key == ("pytorch", "expert_parallel")
    assert "1 or 2 or 3 or 6" in remark.action
    written = compiled(NEWEST, MTP, **sections).args.to_dict()
    assert "moe_expert_parallel_size" not in written


def test_a_type_of_cache_that_the_release_has_not_is_refused():
    cache = {"pytorch": {"kv_cache": "nvfp4"}}
    remark = refusal("1.0.0", NONE, **cache)
    assert remark.key == ("pytorch", "kv_cache")
    assert "'nvfp4', which is not one of auto, fp8" in remark.what
    kept = compiled("1.0.0", NONE, **cache).args.to_dict()["kv_cache_config"]
    assert "dtype" not in kept
    assert "enable_block_reuse" in kept
    for version in ("1.1.0", "1.2.1", NEWEST):
        assert args(version, NONE, **cache)["kv_cache_config"]["dtype"] == "nvfp4"


def test_1_0_lets_requests_differ_in_sampling_where_it_can():
    assert args("1.0.0", NONE)["enable_mixed_sampler"] is True
    assert "enable_mixed_sampler" not in args("1.0.0", EAGLE3)
    assert "enable_mixed_sampler" not in args("1.1.0", NONE)


def test_limits_are_the_server_s_sizes():
    limits = {**LIMITS, "max_batch_size": 7, "kv_cache_fraction": 0.5}
    written = args(NEWEST, NONE, limits=limits)
    assert written["max_batch_size"] == 7
    assert written["max_seq_len"] == 8192
    assert written["kv_cache_config"]["free_gpu_memory_fraction"] == 0.5
    assert written["cuda_graph_config"]["max_batch_size"] == 7
