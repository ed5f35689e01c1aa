"""What trtllm-build writes, adjusts and refuses."""

import json

import pytest

from tests.models.tiny import write_checkpoint
from tests.standins.samples import (
    make_bench,
    succeeded,
    write_eagle,
    write_medusa,
    write_redrafter,
)

EXTERNAL = ("--speculative_decoding_mode", "draft_tokens_external")


@pytest.fixture
def bench(tmp_path):
    bench = make_bench(tmp_path)
    bench.convert_plain(write_checkpoint(tmp_path / "hf"))
    return bench


def built(bench, *flags, checkpoint="plain", **environment):
    """The build_config that the builder wrote."""
    succeeded(bench.build(checkpoint, *flags, **environment))
    return bench.config("engine")["build_config"]


def refused(bench, message, *flags, checkpoint="plain", **environment):
    done = bench.build(checkpoint, *flags, **environment)
    assert done.returncode == 1
    assert message in done.stderr
    assert not (bench.folder / "engine").exists()


def medusa(bench):
    heads = write_medusa(bench.folder / "heads")
    given = ("--model_dir", bench.folder / "hf", "--medusa_model_dir", heads)
    succeeded(bench.script("medusa", *given, "--output_dir", "medusa"))


def eagle(bench):
    head = write_eagle(bench.folder / "head")
    given = ("--model_dir", bench.folder / "hf", "--eagle_model_dir", head)
    succeeded(bench.script("eagle", *given, "--output_dir", "eagle"))


def redrafter(bench):
    drafter = write_redrafter(bench.folder / "drafter")
    given = ("--base_model_checkpoint_dir", "plain", "--drafter_model_dir", drafter)
    sizes = ("--redrafter_num_beams", "3", "--redrafter_draft_len_per_beam", "4")
    succeeded(bench.script("redrafter", *given, *sizes, "--output_dir", "redrafter"))


def test_an_engine_has_the_documented_files(bench, tmp_path):
    config = built(bench, "--max_batch_size", "4")
    document = bench.config("engine")
    assert list(document) == ["version", "pretrained_config", "build_config"]
    assert document["version"] == "1.2.1"
    assert document["pretrained_config"] == bench.config("plain")
    assert sorted(p.name for p in (tmp_path / "engine").iterdir()) == [
        "config.json",
        "rank0.engine",
    ]
    assert (tmp_path / "model.cache").is_file()
    assert (config["speculative_decoding_mode"], config["max_batch_size"]) == (1, 4)
    assert config["kv_cache_type"] == "PAGED"


def test_every_rank_gets_its_engine(tmp_path):
    bench = make_bench(tmp_path, gpus=2)
    bench.convert_plain(write_checkpoint(tmp_path / "hf"), "plain", "--tp_size", "2")
    built(bench, "--workers", "2")
    assert (tmp_path / "engine" / "rank1.engine").is_file()
    (tmp_path / "plain" / "rank1.safetensors").unlink()
    assert "rank1.safetensors" in bench.build("plain").stderr


def test_lengths_come_from_the_checkpoint_and_make_room_for_drafts(bench):
    config = built(bench, *EXTERNAL, "--max_draft_len", "5", "--max_batch_size", "4")
    assert (config["speculative_decoding_mode"], config["max_draft_len"]) == (2, 5)
    assert config["max_seq_len"] == 64 + 5
    assert config["max_input_len"] == 64
    config = built(bench, "--max_seq_len", "40", "--max_input_len", "30")
    assert (config["max_seq_len"], config["max_input_len"]) == (40, 30)


def test_tokens_of_a_batch_are_raised_to_what_a_step_verifies(bench):
    flags = (*EXTERNAL, "--max_draft_len", "5", "--max_batch_size", "10")
    assert built(bench, *flags, "--max_num_tokens", "7")["max_num_tokens"] == 60
    assert built(bench, *flags, "--max_num_tokens", "70")["max_num_tokens"] == 70


def test_every_plugin_flag_shows(bench):
    plugins = built(bench)["plugin_config"]
    assert plugins["gemm_plugin"] is None
    assert plugins["use_paged_context_fmha"] is True
    assert plugins["gpt_attention_plugin"] == "float32"
    given = ("--gemm_plugin", "float16", "--use_paged_context_fmha", "disable")
    plugins = built(bench, *given, "--tokens_per_block", "64")["plugin_config"]
    assert plugins["gemm_plugin"] == "float16"
    assert plugins["use_paged_context_fmha"] is False
    assert plugins["tokens_per_block"] == 64


def test_paged_context_is_off_where_its_default_is_not_established(tmp_path):
    bench = make_bench(tmp_path, "0.17.0")
    bench.convert_plain(write_checkpoint(tmp_path / "hf"))
    assert built(bench)["plugin_config"]["use_paged_context_fmha"] is False
    flags = ("--use_paged_context_fmha", "enable")
    assert built(bench, *flags)["plugin_config"]["use_paged_context_fmha"] is True


def test_every_call_and_its_arguments_stay_with_the_engine(bench, tmp_path):
    built(bench, "--workers", "1", "--log_level", "warning")
    content = (tmp_path / "engine" / "rank0.engine").read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])["__metadata__"]
    convert, build = json.loads(header["made_by"])
    assert (convert["program"], build["program"]) == ("llama", "trtllm-build")
    assert build["arguments"]["log_level"] == "warning"


def test_medusa_takes_its_draft_length_from_the_checkpoint(bench):
    medusa(bench)
    mode = ("--speculative_decoding_mode", "medusa", "--max_batch_size", "4")
    config = built(bench, *mode, checkpoint="medusa")
    assert (config["speculative_decoding_mode"], config["max_draft_len"]) == (4, 63)
    forgotten = built(bench, checkpoint="medusa")
    assert forgotten["speculative_decoding_mode"] == 1


def test_eagle_makes_room_for_its_layers_too(bench):
    eagle(bench)
    mode = ("--speculative_decoding_mode", "eagle", "--max_batch_size", "4")
    config = built(bench, *mode, checkpoint="eagle")
    assert (config["speculative_decoding_mode"], config["max_draft_len"]) == (32, 63)
    assert config["max_seq_len"] == 64 + 63 + 4


def test_redrafter_forces_its_mode_and_its_draft_length(bench):
    redrafter(bench)
    flags = ("--max_draft_len", "99")
    done = succeeded(bench.build("redrafter", *flags))
    assert "EXPLICIT_DRAFT_TOKENS" in done.stdout
    config = bench.config("engine")["build_config"]
    assert (config["speculative_decoding_mode"], config["max_draft_len"]) == (16, 12)


def test_redrafter_needs_packed_input(bench):
    redrafter(bench)
    flags = ("--remove_input_padding", "disable")
    refused(bench, "remove_input_padding", *flags, checkpoint="redrafter")


@pytest.mark.parametrize("mode", ["draft_tokens_external", "lookahead_decoding"])
def test_a_mode_without_draft_length_is_refused(bench, mode):
    refused(bench, "max_draft_len > 0", "--speculative_decoding_mode", mode)


@pytest.mark.parametrize(
    ("mode", "message"),
    [
        ("medusa", "no Medusa in LlamaForCausalLM"),
        ("eagle", "num_eagle_layers"),
        ("explicit_draft_tokens", "no drafter"),
    ],
)
def test_a_mode_without_its_drafter_is_refused(bench, mode, message):
    flags = ("--speculative_decoding_mode", mode, "--max_draft_len", "5")
    refused(bench, message, *flags)


def test_context_logits_and_drafts_exclude_each_other(bench):
    flags = (*EXTERNAL, "--max_draft_len", "5")
    for flag in ("--gather_context_logits", "--gather_all_token_logits"):
        refused(bench, "Gather context logits is not support", *flags, flag)
    assert built(bench, "--gather_all_token_logits")["gather_generation_logits"] is True


def test_eagle_is_limited_in_its_batch(bench):
    eagle(bench)
    mode = ("--speculative_decoding_mode", "eagle", "--max_batch_size", "513")
    refused(bench, "batch size up to 512", *mode, checkpoint="eagle")


@pytest.mark.parametrize(
    ("qformat", "kv_cache", "capability", "stays"),
    [
        ("full_prec", "int8", "9.0", False),
        ("int4_awq", "fp8", "9.0", False),
        ("fp8", "fp8", "9.0", True),
        ("full_prec", None, "9.0", True),
    ],
)
def test_the_kv_cache_can_switch_paged_context_off(
    bench, qformat, kv_cache, capability, stays
):
    cache = ("--kv_cache_dtype", kv_cache) if kv_cache else ()
    given = ("--model_dir", bench.folder / "hf", "--output_dir", "quantized")
    succeeded(bench.script("quantize", *given, "--qformat", qformat, *cache))
    flags = ("--use_paged_context_fmha", "enable", "--max_batch_size", "4")
    done = succeeded(bench.build("quantized", *flags))
    plugins = bench.config("engine")["build_config"]["plugin_config"]
    assert plugins["use_paged_context_fmha"] is stays
    assert ("disabling it" in done.stdout) is not stays


def test_blackwell_has_no_kernels_for_integers(bench):
    bench.convert_plain(bench.folder / "hf", "int8", "--use_weight_only")
    refused(bench, "SM>=100", checkpoint="int8", STANDIN_GPU_CC="10.0")


def test_workers_are_capped_at_the_gpus(bench):
    done = succeeded(bench.build("plain", "--workers", "4"))
    assert "workers 4 is capped at 1" in done.stdout


def test_other_refusals_of_the_builder(bench):
    both = ("--multiple_profiles", "enable", "--opt_num_tokens", "8")
    refused(bench, "multiple_profiles", *both)
    flags = ("--gemm_swiglu_plugin", "fp8")
    refused(bench, "gemm_swiglu_plugin=fp8", *flags, STANDIN_GPU_CC="10.0")


@pytest.mark.parametrize(
    "flags", [("--context_fmha", "disable"), ("--streamingllm", "enable")]
)
def test_flags_that_switch_paged_context_off(bench, flags):
    assert built(bench, *flags)["plugin_config"]["use_paged_context_fmha"] is False


def test_tokens_are_lowered_to_those_of_the_batch_and_raised_to_a_block(bench):
    flags = ("--max_batch_size", "2", "--max_seq_len", "40")
    assert built(bench, *flags)["max_num_tokens"] == 80
    flags = ("--max_batch_size", "1", "--max_seq_len", "20", "--max_input_len", "10")
    assert built(bench, *flags)["max_num_tokens"] == 32
    # with drafts the length before it grows counts
    flags = (*EXTERNAL, "--max_draft_len", "5", "--max_batch_size", "2")
    assert built(bench, *flags, "--max_seq_len", "40")["max_num_tokens"] == 80


@pytest.mark.parametrize(
    ("asked", "written"),
    [((), "nvfp4"), (("auto",), "nvfp4"), (("float16",), "nvfp4"),
     (("disable",), None)],
)  # fmt: skip
def test_nvfp4_has_its_gemm_plugin_unless_it_is_disabled(bench, asked, written):
    given = ("--model_dir", bench.folder / "hf", "--output_dir", "quantized")
    format_ = ("--qformat", "nvfp4", "--kv_cache_dtype", "fp8")
    succeeded(bench.script("quantize", *given, *format_, STANDIN_GPU_CC="10.0"))
    flags = ("--gemm_plugin", *asked) if asked else ()
    succeeded(bench.build("quantized", *flags, STANDIN_GPU_CC="10.0"))
    plugins = bench.config("engine")["build_config"]["plugin_config"]
    assert plugins["gemm_plugin"] == written
