"""What a tool wrote is told where it is harmless, and refused where it is not."""

import json
from pathlib import Path

import pytest

from trtspec.errors import BuildError
from trtspec.trtllm.engine.readback import (
    Expected,
    differences,
    require_as_planned,
    require_ranks,
)

LOG = Path("build.log")
CONFIG = {
    "pretrained_config": {"dtype": "float16", "quantization": {"quant_algo": None}},
    "build_config": {
        "max_batch_size": 4,
        "max_seq_len": 2111,
        "plugin_config": {"use_paged_context_fmha": True, "gemm_plugin": "float16"},
    },
}


def told(*expected, config=CONFIG):
    return [(str(d), d.wrong) for d in differences(config, expected)]


@pytest.mark.parametrize(
    "expected",
    [
        Expected("build_config.max_batch_size", (4,)),
        Expected("build_config.plugin_config.use_paged_context_fmha", (True,)),
        Expected("build_config.plugin_config.gemm_plugin", ("auto", "float16")),
        Expected("pretrained_config.dtype", ("FLOAT16",)),
        Expected("pretrained_config.quantization.quant_algo", (None,)),
        Expected("pretrained_config.quantization.kv_cache_quant_algo", (None,)),
        Expected("build_config.max_seq_len", (2111,), "at least"),
        Expected("build_config.max_batch_size", (4,), "reported"),
    ],
)
def test_as_planned(expected):
    assert told(expected) == []


def test_no_quantization_has_three_spellings():
    expected = Expected("quant_algo", (None,))
    for config in ({}, {"quant_algo": None}, {"quant_algo": "NO_QUANT"}):
        assert told(expected, config=config) == []
    ((text, wrong),) = told(expected, config={"quant_algo": "FP8"})
    assert (text, wrong) == ("quant_algo is FP8, planned was None", True)


@pytest.mark.parametrize(
    ("rule", "planned", "wrong"),
    [
        ("equal", 8, True),
        ("equal", 2, True),
        ("at least", 8, True),
        ("at least", 2, False),
        ("reported", 8, False),
        ("reported", 2, False),
    ],
)
def test_each_rule_below_and_above_the_plan(rule, planned, wrong):
    found = told(Expected("build_config.max_batch_size", (planned,), rule))
    text = f"build_config.max_batch_size is 4, planned was {planned}"
    assert found == [(text, wrong)]


@pytest.mark.parametrize(
    ("key", "planned", "rule"),
    [
        ("build_config.max_draft_len", 4, "equal"),
        ("build_config.max_draft_len", 0, "equal"),
        ("build_config.max_draft_len", 4, "at least"),
        ("build_config.plugin_config.nothing", True, "equal"),
        ("build_config.max_batch_size.deeper", 4, "equal"),
    ],
)
def test_key_that_was_not_written_is_wrong(key, planned, rule):
    found = told(Expected(key, (planned,), rule))
    assert found == [(f"{key} is not written, planned was {planned}", True)]


@pytest.mark.parametrize(
    ("found", "planned"), [(True, 1), (False, 0), (2, True), ("true", True), (1, False)]
)
def test_what_is_no_switch_is_not_taken_for_one(found, planned):
    ((_, wrong),) = told(Expected("key", (planned,)), config={"key": found})
    assert wrong


@pytest.mark.parametrize(("found", "planned"), [(1, True), (0, False), (True, True)])
def test_switch_may_be_written_as_a_number(found, planned):
    assert told(Expected("key", (planned,)), config={"key": found}) == []


def test_flag_is_no_number_that_is_large_enough():
    assert told(Expected("key", (1,), "at least"), config={"key": True})


@pytest.fixture
def engine(tmp_path):
    def write(content):
        text = content if isinstance(content, str) else json.dumps(content)
        (tmp_path / "config.json").write_text(text)
        return tmp_path

    return write


def test_harmless_changes_are_told_one_by_one(engine):
    lines = []
    expected = [
        Expected("build_config.max_batch_size", (8,), "reported"),
        Expected("pretrained_config.dtype", ("float16",), "reported"),
        Expected("version", ("1.2.1",), "reported"),
    ]
    require_as_planned(engine(CONFIG), expected, lines.append, LOG)
    assert lines == [
        "changed by TensorRT-LLM: build_config.max_batch_size is 4, planned was 8",
        "changed by TensorRT-LLM: version is not written, planned was 1.2.1",
    ]


def test_all_that_is_wrong_is_in_one_error_and_the_harmless_is_told_before(engine):
    lines = []
    expected = [
        Expected("build_config.max_batch_size", (8,)),
        Expected("pretrained_config.dtype", ("bfloat16",)),
        Expected("version", ("1.2.1",), "reported"),
    ]
    with pytest.raises(BuildError) as caught:
        require_as_planned(engine(CONFIG), expected, lines.append, LOG)
    assert caught.value.problems[0].what == (
        "what was built is not what was planned: "
        "build_config.max_batch_size is 4, planned was 8; "
        "pretrained_config.dtype is float16, planned was bfloat16"
    )
    assert "see the log build.log" in caught.value.problems[0].action
    assert len(lines) == 1


@pytest.mark.parametrize("content", ["", "{", "[1]"])
def test_config_that_cannot_be_read_is_an_error(engine, content):
    with pytest.raises(BuildError, match=r"ended well, but its config\.json"):
        require_as_planned(engine(content), [], print, LOG)


def test_config_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(BuildError, match="cannot be read") as caught:
        require_as_planned(tmp_path, [], print, LOG)
    assert caught.value.problems[0].action == "see the log build.log"


@pytest.mark.parametrize(
    ("config", "suffix"),
    [
        ({"pretrained_config": {"mapping": {"world_size": 2}}}, ".engine"),
        ({"mapping": {"world_size": 2}}, ".safetensors"),
    ],
)
def test_every_gpu_must_have_its_part(engine, config, suffix):
    folder = engine(config)
    (folder / f"rank0{suffix}").write_text("")
    with pytest.raises(BuildError, match=f"did not write rank1{suffix}"):
        require_ranks(folder, suffix, LOG)
    (folder / f"rank1{suffix}").write_text("")
    require_ranks(folder, suffix, LOG)


def test_checkpoint_that_names_no_gpus_has_one_part(engine):
    with pytest.raises(BuildError, match=r"did not write rank0\.engine"):
        require_ranks(engine({}), ".engine", LOG)


@pytest.mark.parametrize(
    ("found", "is_same"),
    [("1.2.1", True), ("1.2.1+cu13", True), ("v1.2.1", True), ("1.2.1rc1", False),
     ("1.2.0", False), ("1.2.1.post1", False), ("", False), (None, False)],
)  # fmt: skip
def test_version_is_the_same_whatever_its_local_part(found, is_same):
    wanted = Expected("version", ("1.2.1",), "same version")
    here = told(wanted, config={"version": found})
    text = f"version is {found}, planned was 1.2.1"
    assert here == ([] if is_same else [(text, True)])
    assert told(wanted, config={}) == [
        ("version is not written, planned was 1.2.1", True)
    ]
