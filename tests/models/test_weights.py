"""All weights are found, in one file or in shards, or what is missing is named."""

import json

import pytest

from tests.models.tiny import shapes, write_checkpoint, write_sharded
from trtspec.errors import UsageError
from trtspec.models.weights import INDEX, SINGLE, read_tensors, weight_files


def change_index(directory, change):
    index = json.loads((directory / INDEX).read_text())
    change(index)
    (directory / INDEX).write_text(json.dumps(index))


def refusal(directory):
    with pytest.raises(UsageError) as caught:
        read_tensors(directory)
    return caught.value.problems[0]


@pytest.fixture
def sharded(tmp_path):
    return write_sharded(tmp_path)


def test_one_file_holds_all_tensors(tmp_path):
    found = read_tensors(write_checkpoint(tmp_path))
    assert {name: tensor.shape for name, tensor in found.items()} == shapes()
    assert weight_files(tmp_path) == (SINGLE,)


def test_shards_together_hold_all_tensors(sharded):
    found = read_tensors(sharded)
    assert {name: tensor.shape for name, tensor in found.items()} == shapes()


def test_the_files_of_shards_are_the_index_and_each_shard(sharded):
    assert weight_files(sharded) == (
        INDEX,
        "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors",
    )


def test_without_weights_there_are_no_files(tmp_path):
    assert weight_files(tmp_path) == ()


def test_a_missing_shard_is_named(sharded):
    (sharded / "model-00002-of-00002.safetensors").unlink()
    problem = refusal(sharded)
    assert "1 of 2 weight files are missing" in problem.what
    assert problem.allowed == "all files that the index names"
    assert problem.action.startswith("fetch the missing files from the same revision: ")
    assert "model-00002-of-00002.safetensors" in problem.what


def test_a_truncated_shard_is_named(sharded):
    shard = sharded / "model-00001-of-00002.safetensors"
    shard.write_bytes(shard.read_bytes()[:-7])
    assert "model-00001-of-00002.safetensors is truncated" in refusal(sharded).what


def test_a_tensor_that_its_shard_lacks_is_named(sharded):
    change_index(
        sharded,
        lambda index: index["weight_map"].update(
            {"extra.weight": "model-00001-of-00002.safetensors"}
        ),
    )
    what = refusal(sharded).what
    assert "model-00001-of-00002.safetensors lacks 1 tensor(s)" in what
    assert "first extra.weight" in what


@pytest.mark.parametrize(
    "place", ["../model.safetensors", "/etc/passwd", "a/b", 3, None]
)
def test_an_index_may_not_lead_out_of_the_directory(sharded, place):
    change_index(sharded, lambda index: index["weight_map"].update({"x": place}))
    assert f"places tensor x in {place!r}" in refusal(sharded).what


@pytest.mark.parametrize("weights", [None, [], {}, "x"])
def test_an_index_without_a_map_is_refused(sharded, weights):
    change_index(sharded, lambda index: index.update(weight_map=weights))
    assert refusal(sharded).what == "has no weight_map"


def test_pickled_weights_are_refused_with_the_way_to_convert_them(tmp_path):
    (tmp_path / "pytorch_model.bin").touch()
    problem = refusal(tmp_path)
    assert "pytorch_model.bin" in problem.what
    assert "can run code" in problem.what
    assert "save_pretrained" in problem.action


def test_safetensors_under_another_name_are_pointed_at(tmp_path):
    (tmp_path / "adapter_model.safetensors").touch()
    assert refusal(tmp_path).what == "holds only adapter_model.safetensors"


def test_no_weights_at_all_are_said_so(tmp_path):
    problem = refusal(tmp_path)
    assert problem.what == "holds no weights"
    assert problem.where == str(tmp_path)
