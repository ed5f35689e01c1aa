"""A checkpoint is described from its headers, in each of its forms."""

import json

import pytest

from tests.models.tiny import (
    HIDDEN,
    PARAMETERS,
    ROWS,
    TOKENS,
    tensors,
    write_checkpoint,
    write_config,
    write_gguf,
    write_pickled,
    write_sharded,
    write_tokenizer,
)
from trtspec.errors import UsageError
from trtspec.models.describe import describe


def test_a_whole_checkpoint_is_described(tmp_path):
    info = describe(write_checkpoint(tmp_path))
    assert (info.family, info.layers, info.context_length) == ("llama", 2, 64)
    assert info.parameters == PARAMETERS
    assert info.weight_bytes == 4 * PARAMETERS
    assert info.dtype == "float32"
    assert info.tokenizer_entries == len(TOKENS)
    assert info.format == "safetensors"
    assert info.directory == tmp_path


def test_shards_are_described_like_one_file(tmp_path):
    one = describe(write_checkpoint(tmp_path / "one"))
    assert describe(write_sharded(tmp_path / "many")) == one


def test_the_stored_type_is_that_of_the_weights_not_of_the_configuration(tmp_path):
    weights = tensors("float16")
    info = describe(write_checkpoint(tmp_path, weights=weights, dtype="float32"))
    assert info.dtype == "float16"
    assert info.weight_bytes == 2 * PARAMETERS


def test_a_stored_copy_of_a_tied_embedding_counts_once(tmp_path):
    weights = tensors(**{"lm_head.weight": (ROWS, HIDDEN)})
    tied = describe(write_checkpoint(tmp_path / "tied", weights=weights))
    assert tied.parameters == PARAMETERS
    untied = describe(
        write_checkpoint(tmp_path / "un", weights=weights, tie_word_embeddings=False)
    )
    assert untied.parameters == PARAMETERS + ROWS * HIDDEN


def test_a_tied_embedding_stored_as_output_weight_alone_counts_too(tmp_path):
    weights = tensors()
    weights["lm_head.weight"] = weights.pop("model.embed_tokens.weight")
    info = describe(write_checkpoint(tmp_path, weights=weights))
    assert info.parameters == PARAMETERS


def test_entries_are_counted_with_those_that_were_added(tmp_path):
    write_checkpoint(tmp_path)
    write_tokenizer(tmp_path, added=["<end>", "<pad>"])
    assert describe(tmp_path).tokenizer_entries == len(TOKENS) + 2


def test_a_checkpoint_without_a_token_list_has_an_unknown_number_of_entries(tmp_path):
    write_checkpoint(tmp_path)
    (tmp_path / "tokenizer.json").rename(tmp_path / "tokenizer.model")
    assert describe(tmp_path).tokenizer_entries is None


def test_a_gguf_is_described(tmp_path):
    info = describe(write_gguf(tmp_path, quantized=True))
    assert info.format == "gguf"
    assert info.parameters == ROWS * HIDDEN + HIDDEN + 64 * 32
    assert info.weight_bytes == 4 * (ROWS * HIDDEN + HIDDEN) + 64 * 20
    assert (info.dtype, info.quantization) == ("q4_1", "q4_1")
    assert info.tokenizer_entries == len(TOKENS)


def test_safetensors_go_before_a_gguf_in_the_same_directory(tmp_path):
    write_gguf(tmp_path)
    assert describe(write_checkpoint(tmp_path)).format == "safetensors"


def test_a_plain_gguf_is_not_called_quantized(tmp_path):
    info = describe(write_gguf(tmp_path))
    assert (info.dtype, info.quantization) == ("float32", "none")


def test_what_is_no_directory_is_refused(tmp_path):
    with pytest.raises(UsageError, match="is not a directory"):
        describe(tmp_path / "absent")


def test_an_empty_directory_is_refused_by_what_it_lacks_first(tmp_path):
    with pytest.raises(UsageError, match=r"config\.json is missing"):
        describe(tmp_path)


def test_a_configuration_alone_is_refused(tmp_path):
    write_config(tmp_path)
    with pytest.raises(UsageError, match="holds no weights"):
        describe(tmp_path)


def test_a_damaged_tokenizer_is_refused(tmp_path):
    write_checkpoint(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(UsageError, match=r"tokenizer\.json:1: not valid JSON"):
        describe(tmp_path)


@pytest.mark.parametrize("shards", [0, 3])
def test_pickled_weights_are_described_by_configuration_and_size(tmp_path, shards):
    info = describe(write_pickled(tmp_path, shards=shards))
    assert (info.format, info.dtype) == ("torch", "float32")
    assert (info.family, info.layers, info.vocabulary_rows) == ("llama", 2, ROWS)
    assert info.weight_bytes == pytest.approx(4 * PARAMETERS, rel=0.01)
    assert info.parameters == info.weight_bytes // 4
    assert info.tokenizer_entries == len(TOKENS)


def test_parameters_of_pickled_weights_go_by_the_named_type(tmp_path):
    info = describe(write_pickled(tmp_path, size=1000, torch_dtype="float16"))
    assert (info.parameters, info.dtype) == (500, "float16")


def test_pickled_weights_are_told_tied_by_their_index(tmp_path):
    write_pickled(tmp_path, shards=1, tie_word_embeddings=None)
    assert describe(tmp_path).tied_embeddings
    path = tmp_path / "pytorch_model.bin.index.json"
    index = json.loads(path.read_text())
    index["weight_map"]["lm_head.weight"] = "pytorch_model-00001-of-00001.bin"
    path.write_text(json.dumps(index))
    assert not describe(tmp_path).tied_embeddings


def test_pickled_weights_give_way_to_safetensors_and_to_a_gguf(tmp_path):
    write_gguf(write_pickled(tmp_path))
    assert describe(tmp_path).format == "gguf"
    assert describe(write_checkpoint(tmp_path)).format == "safetensors"


def test_a_missing_pickled_shard_is_named(tmp_path):
    write_pickled(tmp_path, shards=2)
    (tmp_path / "pytorch_model-00001-of-00002.bin").unlink()
    with pytest.raises(UsageError, match="first pytorch_model-00001-of-00002"):
        describe(tmp_path)


@pytest.mark.slow
def test_transformers_gives_the_same_shape(tmp_path):
    transformers = pytest.importorskip("transformers")
    info = describe(write_checkpoint(tmp_path))
    config = transformers.AutoConfig.from_pretrained(tmp_path)
    assert config.num_hidden_layers == info.layers
    assert config.num_key_value_heads == info.kv_heads
    assert config.head_dim == info.head_size
    model = transformers.AutoModelForCausalLM.from_pretrained(tmp_path)
    assert model.num_parameters() == info.parameters
    cache = model(model.dummy_inputs["input_ids"][:1, :1] * 0).past_key_values
    one_token = sum(layer.keys.nbytes + layer.values.nbytes for layer in cache.layers)
    assert one_token == info.kv_bytes_per_token("float32")


def test_weights_are_never_read(tmp_path):
    # a sparse file of 1 TiB: reading it would take longer than the test may run
    write_checkpoint(tmp_path, tie_word_embeddings=False)
    elements = 1 << 39
    header = {"a": {"dtype": "F16", "shape": [elements], "data_offsets": [0, 1 << 40]}}
    text = json.dumps(header).encode()
    with (tmp_path / "model.safetensors").open("wb") as stream:
        stream.write(len(text).to_bytes(8, "little") + text)
        stream.truncate(8 + len(text) + (1 << 40))
    assert describe(tmp_path).parameters == elements
