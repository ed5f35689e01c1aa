"""Damaged files beside a model's weights are refused, and inspect says which."""

import json

import pytest

from tests.models.tiny import tensors, write_checkpoint, write_config, write_pickled
from trtspec.errors import UsageError
from trtspec.models.describe import describe
from trtspec.models.inspection import inspect

NAMES = ["generation_config.json", "tokenizer_config.json", "special_tokens_map.json"]


@pytest.mark.parametrize("write", [write_checkpoint, write_pickled])
@pytest.mark.parametrize("name", NAMES)
def test_a_side_file_that_is_no_object_is_damage(tmp_path, name, write):
    write(tmp_path)
    (tmp_path / name).write_text("[1]")
    with pytest.raises(UsageError, match=f"{name}: holds a list"):
        describe(tmp_path)
    found = inspect(tmp_path)
    assert [name in problem.where for problem in found.problems] == [True]
    assert found.shape is not None


@pytest.mark.parametrize("name", NAMES)
def test_a_side_file_that_is_an_object_is_none_of_our_business(tmp_path, name):
    write_checkpoint(tmp_path)
    (tmp_path / name).write_text(json.dumps({"chat_template": 3, "eos_token_id": "x"}))
    assert describe(tmp_path).layers == 2
    assert inspect(tmp_path).problems == ()


@pytest.mark.parametrize("key", ["rope_scaling", "rope_parameters"])
@pytest.mark.parametrize("value", [["x"], "llama3", 2])
def test_a_position_encoding_that_is_no_object_is_damage(tmp_path, key, value):
    write_checkpoint(tmp_path, **{key: value})
    with pytest.raises(UsageError, match=f"config.json: {key} is a"):
        describe(tmp_path)
    assert any(f"{key} is a" in problem.what for problem in inspect(tmp_path).problems)


def test_weights_that_are_a_directory_are_called_one_once(tmp_path):
    write_config(tmp_path)
    (tmp_path / "model.safetensors").mkdir()
    (problem,) = inspect(tmp_path).problems
    assert problem.what == "model.safetensors is a directory, not a file"
    assert "published" in problem.action
    with pytest.raises(UsageError, match="is a directory, not a file"):
        describe(tmp_path)


@pytest.mark.parametrize("goal", ["model.safetensors", "nowhere"])
def test_weights_that_are_a_link_to_no_file_are_called_one(tmp_path, goal):
    write_config(tmp_path)
    (tmp_path / "model.safetensors").symlink_to(goal)
    (problem,) = inspect(tmp_path).problems
    assert (
        problem.what == f"model.safetensors is a link to {goal}, which leads to no file"
    )
    with pytest.raises(UsageError, match=f"a link to {goal}"):
        describe(tmp_path)


def test_the_bytes_of_what_could_not_be_read_are_not_known(tmp_path):
    write_checkpoint(tmp_path)
    whole = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[:-1])
    (fact,) = (f for f in inspect(tmp_path).facts if f.key == "bytes")
    assert (fact.text, fact.value) == ("not known", None)


def test_the_bytes_of_whole_weights_are_known(tmp_path):
    write_checkpoint(tmp_path)
    (fact,) = (f for f in inspect(tmp_path).facts if f.key == "bytes")
    assert fact.value == sum(tensor.nbytes for tensor in tensors().values())
    assert "could be read" not in fact.text


def test_bases_are_written_in_full(tmp_path):
    found = inspect(write_checkpoint(tmp_path, rope_theta=1000000.0))
    (fact,) = (f for f in found.facts if f.key == "context")
    assert "rotary base 1000000" in fact.text
