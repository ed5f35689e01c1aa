"""Pickled weights are known by name and size alone; what is missing is named."""

import json

import pytest

from tests.models.tiny import PARAMETERS, shapes, write_pickled
from trtspec.errors import UsageError
from trtspec.models.pickled import (
    PICKLED,
    PICKLED_INDEX,
    configured_dtype,
    pickled_bytes,
    pickled_files,
    pickled_names,
    stored_bytes,
)

SHARD = "pytorch_model-00002-of-00002.bin"


@pytest.fixture
def sharded(tmp_path):
    return write_pickled(tmp_path, shards=2)


def change_index(directory, **changes):
    index = json.loads((directory / PICKLED_INDEX).read_text())
    (directory / PICKLED_INDEX).write_text(json.dumps({**index, **changes}))


def refusal(call, *arguments):
    with pytest.raises(UsageError) as caught:
        call(*arguments)
    return caught.value.problems[0]


def test_one_file_counts_by_its_size(tmp_path):
    write_pickled(tmp_path, size=1000)
    assert pickled_files(tmp_path) == (PICKLED,)
    assert pickled_bytes(tmp_path) == 1000
    assert pickled_names(tmp_path) == frozenset()


def test_shards_count_with_their_index_by_what_it_says(sharded):
    change_index(sharded, metadata={"total_size": 123})
    assert pickled_files(sharded) == (
        PICKLED_INDEX,
        "pytorch_model-00001-of-00002.bin",
        SHARD,
    )
    assert pickled_bytes(sharded) == 123
    assert pickled_names(sharded) == set(shapes())


@pytest.mark.parametrize("metadata", [None, {}, {"total_size": "x"}, {"total_size": 0}])
def test_an_index_without_a_size_leaves_that_of_the_files(sharded, metadata):
    change_index(sharded, metadata=metadata)
    assert pickled_bytes(sharded) == 4 * PARAMETERS


def test_without_pickled_weights_there_are_no_files(tmp_path):
    assert pickled_files(tmp_path) == ()
    assert pickled_names(tmp_path) == frozenset()


def test_a_missing_shard_is_named(sharded):
    (sharded / SHARD).unlink()
    what = refusal(pickled_bytes, sharded).what
    assert what == f"1 of 2 weight files are missing, first {SHARD}"


def test_an_index_may_not_lead_out_of_the_directory(sharded):
    change_index(sharded, weight_map={"a": "../pytorch_model.bin"})
    assert "places tensor a in" in refusal(pickled_files, sharded).what


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / PICKLED).touch()
    assert refusal(stored_bytes, tmp_path / PICKLED).what == f"{PICKLED} is empty"


def test_a_pointer_of_git_lfs_is_refused(tmp_path):
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n"
    (tmp_path / PICKLED).write_text(pointer)
    problem = refusal(stored_bytes, tmp_path / PICKLED)
    assert "pointer of Git LFS" in problem.what
    assert "git lfs pull" in problem.action


@pytest.mark.parametrize(
    ("config", "dtype"),
    [
        ({}, "float32"),
        ({"torch_dtype": "float16"}, "float16"),
        ({"torch_dtype": "torch.bfloat16"}, "bfloat16"),
        ({"dtype": "bfloat16", "torch_dtype": "float16"}, "bfloat16"),
        ({"text_config": {"dtype": "float16"}}, "float16"),
    ],
)
def test_the_type_is_what_the_configuration_names(tmp_path, config, dtype):
    assert configured_dtype(tmp_path, config) == dtype


def test_another_type_is_refused_with_its_name(tmp_path):
    problem = refusal(configured_dtype, tmp_path, {"torch_dtype": "int8"})
    assert problem.what == "torch_dtype is 'int8'"
    assert "float16" in problem.allowed
