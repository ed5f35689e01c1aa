"""Flags of the builder and the example scripts, and where the scripts lie."""

import pytest
from packaging.version import Version

from tests.trtllm.facts.numbers import CANDIDATES, DRIVEN, WITHOUT_BACKEND
from trtspec.trtllm import facts
from trtspec.trtllm.facts.read import established

V017, V020, V100, V121 = DRIVEN

COMMON = {"output_dir", "dtype", "tp_size", "workers"}
WEIGHT_ONLY = {"use_weight_only", "weight_only_precision"}
EMITTED = {
    "trtllm-build": {
        "checkpoint_dir",
        "output_dir",
        "max_batch_size",
        "max_input_len",
        "max_seq_len",
        "max_beam_width",
        "max_num_tokens",
        "max_draft_len",
        "gemm_plugin",
        "use_paged_context_fmha",
        "speculative_decoding_mode",
        "gather_generation_logits",
        "workers",
    },
    "llama": COMMON | WEIGHT_ONLY | {"model_dir"},
    "qwen": COMMON | WEIGHT_ONLY | {"model_dir"},
    "medusa": COMMON
    | WEIGHT_ONLY
    | {
        "model_dir",
        "model_type",
        "medusa_model_dir",
        "num_medusa_heads",
        "num_medusa_layers",
        "max_medusa_token_len",
    },
    "eagle": COMMON
    | {
        "model_dir",
        "eagle_model_dir",
        "max_draft_len",
        "num_eagle_layers",
        "max_non_leaves_per_layer",
    },
    "redrafter": {
        "output_dir",
        "dtype",
        "drafter_model_dir",
        "redrafter_num_beams",
        "redrafter_draft_len_per_beam",
        "redrafter_no_greedy_search",
    },
    "quantize": {
        "model_dir",
        "output_dir",
        "dtype",
        "tp_size",
        "qformat",
        "kv_cache_dtype",
        "calib_dataset",
        "calib_size",
        "medusa_model_dir",
        "num_medusa_heads",
        "num_medusa_layers",
        "max_draft_len",
    },
}

EVERY_VERSION = [Version(release.version) for release in facts.releases()]
EVERY_VERSION += CANDIDATES


@pytest.mark.parametrize("version", [*DRIVEN, Version("1.3.0rc20")], ids=str)
@pytest.mark.parametrize("program", facts.PROGRAMS)
def test_every_flag_we_pass_exists(program, version):
    known = facts.flags(program, version)
    assert {f"--{name}" for name in EMITTED[program]} <= set(known)
    assert all(name == flag.flag for name, flag in known.items())


@pytest.mark.parametrize("version", EVERY_VERSION, ids=str)
@pytest.mark.parametrize("program", facts.PROGRAMS)
def test_no_flag_is_described_twice_for_a_version(program, version):
    spelled = [
        spelling
        for flag in established(facts.all_flags(program), version)
        for spelling in (flag.flag, *flag.aliases)
    ]
    assert len(spelled) == len(set(spelled))
    assert all(spelling.startswith("-") for spelling in spelled)


@pytest.mark.parametrize("version", WITHOUT_BACKEND, ids=str)
@pytest.mark.parametrize("program", facts.PROGRAMS)
def test_nothing_is_known_without_the_backend(program, version):
    assert facts.flags(program, version) == {}
    assert facts.script_path(program, version) is None


def test_automatic_parallelism_ends_with_the_candidates_of_1_2():
    assert "--auto_parallel" in facts.flags("trtllm-build", Version("1.1.0"))
    assert "--auto_parallel" not in facts.flags("trtllm-build", Version("1.2.0rc0"))


def test_redrafter_takes_its_base_model_in_two_forms():
    for version in map(Version, ("0.17.0", "0.18.2", "0.19.0", "0.20.0", "0.21.0")):
        assert "--model_dir" in facts.flags("redrafter", version)
        assert "--base_model_checkpoint_dir" not in facts.flags("redrafter", version)
    for version in map(Version, ("1.0.0", "1.1.0", "1.2.1", "1.3.0rc20")):
        assert "--model_dir" not in facts.flags("redrafter", version)
        assert "--base_model_checkpoint_dir" in facts.flags("redrafter", version)


def test_speculative_modes_of_the_builder_are_those_of_the_engine():
    for version in DRIVEN:
        mode = facts.flags("trtllm-build", version)["--speculative_decoding_mode"]
        assert set(mode.choices) == set(facts.modes()) - {"none"}


@pytest.mark.parametrize(
    ("value", "since"), [("fp8", "0.17.0"), ("int4_awq", "0.17.0"), ("nvfp4", "0.19.0")]
)
def test_quantization_formats_are_known_from_the_version_that_shows_them(value, since):
    for release in facts.releases():
        formats = facts.flags("quantize", Version(release.version))["--qformat"]
        known = value in formats.choices
        assert known is (Version(release.version) >= Version(since))


@pytest.mark.parametrize(
    ("program", "old", "new"),
    [
        ("llama", "llama", "models/core/llama"),
        ("qwen", "qwen", "models/core/qwen"),
        ("medusa", "medusa", "medusa"),
        ("eagle", "eagle", "eagle"),
        ("redrafter", "redrafter", "redrafter"),
    ],
)
def test_scripts_lie_in_the_folder_of_their_version(program, old, new):
    assert facts.script_path(program, V017) == f"{old}/convert_checkpoint.py"
    for version in (V020, V100, V121):
        assert facts.script_path(program, version) == f"{new}/convert_checkpoint.py"


def test_quantize_script_never_moved_and_the_builder_is_no_script():
    for version in DRIVEN:
        assert facts.script_path("quantize", version) == "quantization/quantize.py"
        assert facts.script_path("trtllm-build", version) is None
    assert facts.all_script_paths("trtllm-build") == ()


@pytest.mark.parametrize("version", EVERY_VERSION, ids=str)
def test_a_script_has_one_place_in_a_version(version):
    for program in facts.PROGRAMS:
        places = established(facts.all_script_paths(program), version)
        assert [place.path for place in places] == (
            [facts.script_path(program, version)] if places else []
        )


def test_example_folders_of_the_images_and_what_tells_their_version():
    folders = [folder.path for folder in facts.example_folders()]
    assert "/app/tensorrt_llm/examples" in folders
    assert all(folder.startswith("/") for folder in folders)
    marks = [mark.path for mark in facts.version_marks()]
    assert "constraints.txt" in marks
    assert not any(mark.startswith("/") for mark in marks)
