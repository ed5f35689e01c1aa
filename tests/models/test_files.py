"""Which files count, and when a checkpoint is complete."""

import pytest

from tests.models.tiny import write_checkpoint, write_gguf, write_sharded
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
    with pytest.raises(UsageError, match="JSON list"):
        checkpoint_files(tmp_path)


@pytest.mark.parametrize("write", [write_checkpoint, write_sharded, write_gguf])
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
