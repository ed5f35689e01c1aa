"""A drafter is described from headers and configuration; pickles stay unopened."""

import json

import pytest

from tests.models.drafters import (
    NOT_A_PICKLE,
    write_eagle,
    write_medusa,
    write_redrafter,
)
from tests.models.tiny import HIDDEN, ROWS
from trtspec.errors import UsageError
from trtspec.models.drafter import describe_drafter

WRITERS = {"medusa": write_medusa, "eagle": write_eagle, "redrafter": write_redrafter}
KINDS = pytest.mark.parametrize("kind", WRITERS)


def refusal(directory, kind):
    with pytest.raises(UsageError) as caught:
        describe_drafter(directory, kind)
    return caught.value.problems[0]


def test_medusa_heads_are_counted_in_the_weights(tmp_path):
    info = describe_drafter(write_medusa(tmp_path, heads=5, layers=2), "medusa")
    assert (info.heads, info.head_layers) == (5, 2)
    assert (info.hidden_size, info.vocabulary_rows) == (HIDDEN, ROWS)
    assert info.weight_bytes == 2 * 5 * (2 * (HIDDEN + 1) * HIDDEN + ROWS * HIDDEN)
    assert (info.dtype, info.files) == ("float16", ("medusa_lm_head.safetensors",))
    assert info.is_counted
    assert (info.layers, info.has_fc_bias) == (None, None)


def test_pickled_medusa_heads_are_those_of_the_configuration(tmp_path):
    info = describe_drafter(write_medusa(tmp_path, pickled=True), "medusa")
    assert (info.heads, info.head_layers, info.family) == (2, 1, None)
    assert (info.hidden_size, info.vocabulary_rows, info.dtype) == (None, None, None)
    assert (info.format, info.weight_bytes) == ("torch", len(NOT_A_PICKLE))
    assert not info.is_counted


def test_of_two_medusa_files_the_pickled_one_is_loaded(tmp_path):
    write_medusa(tmp_path, heads=5)
    info = describe_drafter(write_medusa(tmp_path, pickled=True), "medusa")
    assert (info.files, info.heads) == (("medusa_lm_head.pt",), 2)


def test_an_eagle_drafter_is_counted_in_the_weights(tmp_path):
    info = describe_drafter(write_eagle(tmp_path, layers=2, rows=24), "eagle")
    assert (info.layers, info.hidden_size, info.vocabulary_rows) == (2, HIDDEN, 24)
    assert (info.family, info.has_fc_bias) == ("llama", True)
    assert (info.heads, info.head_layers) == (None, None)
    lacking = describe_drafter(write_eagle(tmp_path / "b", bias=False), "eagle")
    assert lacking.has_fc_bias is False


@pytest.mark.parametrize("bias", [None, True, False])
def test_a_pickled_eagle_drafter_is_that_of_the_configuration(tmp_path, bias):
    info = describe_drafter(write_eagle(tmp_path, pickled=True), "eagle")
    assert (info.layers, info.hidden_size, info.vocabulary_rows) == (1, HIDDEN, ROWS)
    assert (info.dtype, info.format) == ("float16", "torch")
    assert info.has_fc_bias is None
    config = json.loads((tmp_path / "config.json").read_text()) | {"bias": bias}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert describe_drafter(tmp_path, "eagle").has_fc_bias is bias


def test_safetensors_of_an_eagle_drafter_go_before_a_pickled_copy(tmp_path):
    write_eagle(tmp_path, pickled=True)
    info = describe_drafter(write_eagle(tmp_path), "eagle")
    assert info.files == ("model.safetensors",)


def test_pickled_shards_of_an_eagle_drafter_are_its_files(tmp_path):
    write_eagle(tmp_path, pickled=True)
    shard = "pytorch_model-00001-of-00001.bin"
    (tmp_path / "pytorch_model.bin").rename(tmp_path / shard)
    index = {"metadata": {"total_size": 7}, "weight_map": {"fc.weight": shard}}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    info = describe_drafter(tmp_path, "eagle")
    assert info.files == ("pytorch_model.bin.index.json", shard)
    assert info.weight_bytes == 7
    (tmp_path / shard).unlink()
    assert f"first {shard}" in refusal(tmp_path, "eagle").what


@pytest.mark.parametrize("prefix", ["lm_head", "lm_heads", "0"])
def test_a_redrafter_head_is_counted_under_each_of_its_names(tmp_path, prefix):
    info = describe_drafter(
        write_redrafter(tmp_path, prefix=prefix, rows=24), "redrafter"
    )
    assert (info.head_layers, info.hidden_size, info.vocabulary_rows) == (2, HIDDEN, 24)
    assert info.files == ("model.safetensors",)


def test_a_pickled_redrafter_head_is_that_of_the_configuration(tmp_path):
    info = describe_drafter(write_redrafter(tmp_path, pickled=True), "redrafter")
    assert (info.head_layers, info.vocabulary_rows) == (2, ROWS)
    assert info.files == ("model.pt",)


@KINDS
def test_what_is_no_directory_is_refused(tmp_path, kind):
    assert "is not a directory" in refusal(tmp_path / "gone", kind).what


@KINDS
def test_without_a_configuration_it_is_refused(tmp_path, kind):
    (WRITERS[kind](tmp_path) / "config.json").unlink()
    assert refusal(tmp_path, kind).what == "config.json is missing"


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("medusa", "medusa_lm_head.pt, medusa_lm_head.safetensors"),
        ("eagle", "pytorch_model.bin"),
        ("redrafter", "model.safetensors, model.pt"),
    ],
)
def test_without_weights_the_names_looked_for_are_told(tmp_path, kind, name):
    WRITERS[kind](tmp_path)
    for path in tmp_path.glob("*.safetensors"):
        path.unlink()
    problem = refusal(tmp_path, kind)
    assert problem.what == f"holds no {kind} weights"
    assert name in problem.allowed


@pytest.mark.parametrize(
    ("kind", "source", "part"),
    [
        ("medusa", "medusa_lm_head.safetensors", "0.0.linear.weight"),
        ("eagle", "model.safetensors", "fc.weight"),
        ("redrafter", "model.safetensors", "lm_head.0.linear.weight"),
    ],
)
def test_weights_of_something_else_are_refused_by_what_they_lack(
    tmp_path, kind, source, part
):
    other = write_eagle if kind != "eagle" else write_redrafter
    written = other(tmp_path / "other") / "model.safetensors"
    written.replace(WRITERS[kind](tmp_path / "it") / source)
    problem = refusal(tmp_path / "it", kind)
    assert problem.what.endswith(f"no tensor {part}")


@pytest.mark.parametrize(
    ("kind", "key"),
    [("eagle", "hidden_size"), ("eagle", "num_hidden_layers"),
     ("redrafter", "exit_dim"), ("redrafter", "num_draft_layers")],
)  # fmt: skip
def test_a_key_that_the_conversion_reads_must_be_there(tmp_path, kind, key):
    problem = refusal(WRITERS[kind](tmp_path, **{key: None}), kind)
    assert problem.what == f"has no {key}"
    assert problem.where == str(tmp_path / "config.json")


@pytest.mark.parametrize("value", [0, -1, "2", True, 1.5])
def test_a_number_that_makes_no_sense_is_refused(tmp_path, value):
    directory = write_medusa(tmp_path, pickled=True, medusa_num_heads=value)
    assert refusal(directory, "medusa").what == f"medusa_num_heads is {value!r}"


def test_pickled_weights_are_never_opened(tmp_path):
    # a sparse file of 1 TiB: reading it would take longer than the test may run
    with (write_medusa(tmp_path, pickled=True) / "medusa_lm_head.pt").open(
        "wb"
    ) as file:
        file.truncate(1 << 40)
    assert describe_drafter(tmp_path, "medusa").weight_bytes == 1 << 40
