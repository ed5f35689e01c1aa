"""Which files count, and when a checkpoint is complete."""

import pytest

from tests.models.drafters import (
    write_dflash,
    write_eagle,
    write_eagle3,
    write_medusa,
    write_redrafter,
)
from tests.models.tiny import (
    write_checkpoint,
    write_gguf,
    write_pickled,
    write_sharded,
    write_tokenizer,
)
from trtspec.errors import UsageError
from trtspec.models.files import checkpoint_files, is_complete


def names(directory):
    return [path.name for path in checkpoint_files(directory)]


def test_configuration_tokenizer_and_weights_count(tmp_path):
    write_checkpoint(tmp_path)
    counting = [
        "chat_template.jinja",
        "config.json",
        "generation_config.json",
        "merges.txt",
        "model.safetensors",
        "special_tokens_map.json",
        "tokenizer.json",
        "tokenizer.model",
        "tokenizer_config.json",
        "vocab.json",
    ]
    for name in counting:
        (tmp_path / name).touch()
    assert names(tmp_path) == counting


@pytest.mark.parametrize(
    "name",
    [
        "README.md",
        "pytorch_model.bin",
        "training_args.json",
        "consolidated.safetensors",
    ],
)
def test_other_files_do_not_count(tmp_path, name):
    write_checkpoint(tmp_path)
    before = names(tmp_path)
    (tmp_path / name).touch()
    assert names(tmp_path) == before


def test_shards_count_with_their_index(tmp_path):
    assert names(write_sharded(tmp_path)) == [
        "config.json",
        "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors",
        "model.safetensors.index.json",
        "tokenizer.json",
    ]


def test_a_gguf_counts_only_without_safetensors(tmp_path):
    write_gguf(tmp_path)
    assert names(tmp_path) == ["tiny.gguf"]
    write_checkpoint(tmp_path)
    assert "tiny.gguf" not in names(tmp_path)


def test_a_damaged_index_is_refused(tmp_path):
    write_sharded(tmp_path)
    (tmp_path / "model.safetensors.index.json").write_text("[]")
    with pytest.raises(UsageError, match="holds a list"):
        checkpoint_files(tmp_path)


@pytest.mark.parametrize(
    "write", [write_checkpoint, write_sharded, write_gguf, write_pickled]
)
def test_what_is_written_whole_is_complete(tmp_path, write):
    assert is_complete(write(tmp_path))


@pytest.mark.parametrize(
    "name", ["config.json", "tokenizer.json", "model-00001-of-00002.safetensors"]
)
def test_without_one_of_its_parts_it_is_not_complete(tmp_path, name):
    write_sharded(tmp_path)
    (tmp_path / name).unlink()
    assert not is_complete(tmp_path)


def test_an_empty_directory_is_not_complete(tmp_path):
    assert not is_complete(tmp_path)


def test_pickled_weights_count_only_without_others(tmp_path):
    write_pickled(tmp_path)
    assert names(tmp_path) == ["config.json", "pytorch_model.bin", "tokenizer.json"]
    write_gguf(tmp_path)
    assert "pytorch_model.bin" not in names(tmp_path)


@pytest.mark.parametrize(
    "name",
    ["config.json", "tokenizer.json", "pytorch_model-00001-of-00002.bin"],
)
def test_pickled_weights_without_one_part_are_not_complete(tmp_path, name):
    assert is_complete(write_pickled(tmp_path, shards=2))
    (tmp_path / name).unlink()
    assert not is_complete(tmp_path)


DRAFTERS = [
    ("medusa", write_medusa, "medusa_lm_head.safetensors", "medusa_lm_head.pt"),
    ("eagle", write_eagle, "model.safetensors", "pytorch_model.bin"),
    ("eagle3", write_eagle3, "model.safetensors", "pytorch_model.bin"),
    ("dflash", write_dflash, "model.safetensors", "pytorch_model.bin"),
    ("redrafter", write_redrafter, "model.safetensors", "model.pt"),
]


@pytest.mark.parametrize(("kind", "write", "safe", "pickled"), DRAFTERS)
def test_of_a_drafter_configuration_and_weights_count(
    tmp_path, kind, write, safe, pickled
):
    for directory, name in ((tmp_path / "a", safe), (tmp_path / "b", pickled)):
        write(directory, pickled=name == pickled)
        write_tokenizer(directory)
        (directory / "optimizer.bin").touch()
        assert [p.name for p in checkpoint_files(directory, kind)] == [
            "config.json",
            name,
        ]


@pytest.mark.parametrize(("kind", "write", "safe", "pickled"), DRAFTERS)
def test_a_drafter_is_complete_without_a_tokenizer(
    tmp_path, kind, write, safe, pickled
):
    assert is_complete(write(tmp_path), kind)
    assert not is_complete(tmp_path)
    (tmp_path / "config.json").rename(tmp_path / "other.json")
    assert not is_complete(tmp_path, kind)
    (tmp_path / "other.json").rename(tmp_path / "config.json")
    (tmp_path / safe).unlink()
    assert not is_complete(tmp_path, kind)
