"""Flags of ``trtllm-serve`` by version, and what starts it on several GPUs."""

import pytest
from packaging.version import Version

from tests.trtllm.facts.numbers_pytorch import NEWEST, OF_NO_FAMILY, readable
from trtspec.trtllm import facts
from trtspec.trtllm.facts.read import established
from trtspec.trtllm.versions import is_specifier

V1_0, V1_1, V1_2, RC22, RC27, NOW = NEWEST

IN_1_0 = {
    *("--extra_llm_api_options", "--backend", "--host", "--port", "--log_level"),
    *("--tokenizer", "--trust_remote_code", "--max_batch_size", "--max_num_tokens"),
    *("--max_seq_len", "--max_beam_width", "--tp_size", "--pp_size", "--ep_size"),
    *("--cluster_size", "--kv_cache_free_gpu_memory_fraction", "--gpus_per_node"),
    *("--num_postprocess_workers", "--reasoning_parser", "--server_role"),
    *("--metadata_server_config_file", "--fail_fast_on_attention_window_too_large"),
}
SINCE_1_2 = {
    *("--custom_tokenizer", "--revision", "--context_parallel_size", "--tool_parser"),
    *("--enable_chunked_prefill", "--chat_template", "--disagg_cluster_uri"),
    *("--otlp_traces_endpoint", "--custom_module_dirs", "--media_io_kwargs"),
}
SINCE_RC22 = {
    *("--hf_revision", "--kv_cache_dtype", "--enable_attention_dp", "--grpc"),
    *("--served_model_name", "--telemetry", "--no-telemetry", "--middleware"),
}


@pytest.mark.parametrize(
    ("version", "flags"),
    [
        (V1_0, IN_1_0),
        (V1_1, IN_1_0),
        (V1_2, IN_1_0 | SINCE_1_2),
        (RC22, IN_1_0 | SINCE_1_2 | SINCE_RC22),
        (RC27, IN_1_0 | SINCE_1_2 | SINCE_RC22),
        (NOW, IN_1_0 | SINCE_1_2 | SINCE_RC22 | {"--set", "--generation-config"}),
    ],
    ids=readable,
)
def test_a_version_has_exactly_these_flags(version, flags):
    assert set(facts.serve_flags(version)) == flags


@pytest.mark.parametrize("version", OF_NO_FAMILY, ids=str)
def test_a_version_of_no_family_has_no_flags_and_no_launcher(version):
    assert facts.serve_flags(version) == {}
    assert facts.subcommands(version) == ()
    assert facts.launcher(version) is None


def test_every_flag_has_a_range_and_a_source_and_comes_once_per_version():
    for flag in facts.all_serve_flags():
        assert is_specifier(flag.versions)
        assert not flag.aliases_versions or is_specifier(flag.aliases_versions)
        assert len(flag.source) > 10
    for version in NEWEST:
        names = [flag.flag for flag in established(facts.all_serve_flags(), version)]
        assert len(names) == len(set(names))


LONG = {
    "--extra_llm_api_options": "--config",
    "--tp_size": "--tensor_parallel_size",
    "--pp_size": "--pipeline_parallel_size",
    "--ep_size": "--moe_expert_parallel_size",
    "--cluster_size": "--moe_cluster_parallel_size",
    "--kv_cache_free_gpu_memory_fraction": "--free_gpu_memory_fraction",
}


@pytest.mark.parametrize(("short", "long"), LONG.items())
def test_long_names_came_with_1_2(short, long):
    for version in (V1_0, V1_1):
        assert facts.serve_flags(version)[short].aliases == ()
        assert long not in facts.serve_flags(version)
    for version in (V1_2, RC22, NOW):
        assert facts.serve_flags(version)[short].aliases == (long,)


@pytest.mark.parametrize(
    ("version", "choices"),
    [
        (V1_0, ("pytorch", "trt")),
        (V1_1, ("pytorch", "tensorrt", "_autodeploy")),
        (V1_2, ("pytorch", "tensorrt", "_autodeploy")),
        (RC22, ("pytorch", "_autodeploy")),
        (NOW, ("pytorch", "_autodeploy")),
    ],
    ids=readable,
)
def test_backends_to_choose_from(version, choices):
    assert facts.serve_flags(version)["--backend"].choices == choices


@pytest.mark.parametrize(
    ("version", "parser", "choices"),
    [
        (V1_1, "--reasoning_parser", ("deepseek-r1",)),
        (V1_2, "--reasoning_parser", ("deepseek-r1", "qwen3", "nano-v3")),
        (RC22, "--reasoning_parser", None),
        (RC22, "--tool_parser", None),
    ],
    ids=readable,
)
def test_parsers_to_choose_from_where_they_are_known(version, parser, choices):
    assert facts.serve_flags(version)[parser].choices == choices


def test_the_newest_know_more_parsers():
    newest = facts.serve_flags(NOW)["--reasoning_parser"]
    assert {"auto", "qwen3", "kimi_k2"} <= set(newest.choices or ())
    tools = facts.serve_flags(V1_2)["--tool_parser"].choices
    assert tools is not None
    assert "qwen3_coder" in tools


@pytest.mark.parametrize(
    ("flag", "kind"),
    [
        ("--trust_remote_code", "switch"),
        ("--enable_chunked_prefill", "switch"),
        ("--enable_attention_dp", "switch"),
        ("--port", "int"),
        ("--ep_size", "int"),
        ("--gpus_per_node", "int"),
        ("--kv_cache_free_gpu_memory_fraction", "float"),
        ("--log_level", "choice"),
        ("--custom_module_dirs", "list"),
    ],
)
def test_kinds_of_flags(flag, kind):
    assert facts.serve_flags(NOW)[flag].kind == kind


def test_subcommands_of_the_server():
    assert "serve" in facts.subcommands(V1_0)
    assert "mm_embedding_serve" not in facts.subcommands(V1_0)
    assert "mm_embedding_serve" in facts.subcommands(V1_1)


def test_the_launcher_reads_its_rank_from_slurm_before_mpi():
    told = facts.launcher(Version("1.2.1"))
    assert told is not None
    assert told.program == "trtllm-llmapi-launch"
    assert told.rank_variables.index("SLURM_PROCID") == 0
    assert "OMPI_COMM_WORLD_SIZE" in told.size_variables
    assert "spaces" in told.note
