"""A model's shape is found in GGUF fields, or refused by name."""

import pytest

from tests.models.tiny import TOKENS, write_gguf
from trtspec.errors import UsageError
from trtspec.models.gguf import read_gguf
from trtspec.models.gguf_shape import find_gguf, gguf_shape, token_count


def header_of(directory, **options):
    path = write_gguf(directory, **options) / "tiny.gguf"
    return path, read_gguf(path)


def shape(directory, **options):
    return gguf_shape(*header_of(directory, **options))


def refusal(directory, **options):
    with pytest.raises(UsageError) as caught:
        shape(directory, **options)
    return caught.value.problems[0].what


def test_the_shape_is_that_of_the_fields(tmp_path):
    found = shape(tmp_path)
    assert found.family == found.architecture == "llama"
    assert (found.layers, found.heads, found.kv_heads, found.head_size) == (2, 2, 1, 4)
    assert (found.hidden_size, found.intermediate_size) == (8, 12)
    assert (found.vocabulary_rows, found.context_length) == (16, 64)
    assert found.tied_embeddings
    assert found.quantization == "none"


def test_a_head_size_of_its_own_is_used(tmp_path):
    found = shape(tmp_path, extra=lambda writer: writer.add_key_length(32))
    assert found.head_size == 32


def test_a_family_without_attention_needs_no_heads(tmp_path):
    found = shape(tmp_path, architecture="mamba", kv_heads=0)
    assert (found.family, found.heads, found.kv_heads) == ("mamba", 0, 0)
    assert found.head_size == 0


def test_a_sliding_window_is_read(tmp_path):
    found = shape(tmp_path, extra=lambda writer: writer.add_sliding_window(16))
    assert found.sliding_window == 16


def test_an_output_weight_unties_the_embeddings(tmp_path):
    import numpy as np

    def extra(writer):
        writer.add_tensor("output.weight", np.zeros((16, 8), np.float32))

    assert not shape(tmp_path, extra=extra).tied_embeddings


def test_vocabulary_rows_are_those_of_the_embedding_not_of_the_tokenizer(tmp_path):
    path, header = header_of(tmp_path, rows=24)
    assert gguf_shape(path, header).vocabulary_rows == 24
    assert token_count(header) == 16


def test_the_type_of_most_weight_bytes_is_the_quantization(tmp_path):
    assert shape(tmp_path, quantized=True).quantization == "q4_1"


def test_a_number_repeated_for_each_layer_is_one_number(tmp_path):
    assert shape(tmp_path, kv_heads=[1, 1]).kv_heads == 1


def test_numbers_that_differ_by_layer_are_refused(tmp_path):
    what = refusal(tmp_path, kv_heads=[1, 2])
    assert what == "llama.attention.head_count_kv is [1, 2]"


def test_a_family_without_its_fields_is_refused_by_the_first_that_is_missing(tmp_path):
    path, header = header_of(tmp_path)
    fields = {k: v for k, v in header.fields.items() if k != "llama.block_count"}
    with pytest.raises(UsageError, match=r"has no field llama\.block_count"):
        gguf_shape(path, type(header)(fields, header.tensors))


@pytest.mark.parametrize("architecture", ["t5", "t5encoder"])
def test_encoders_are_refused_by_their_family(tmp_path, architecture):
    what = refusal(tmp_path, architecture=architecture)
    assert "no causal language model" in what


def test_a_family_that_says_it_is_not_causal_is_refused(tmp_path):
    def extra(writer):
        writer.add_causal_attention(False)

    what = refusal(tmp_path, architecture="bert", extra=extra)
    assert "no causal language model: bert" in what


def test_an_adapter_is_refused(tmp_path):
    what = refusal(tmp_path, extra=lambda writer: writer.add_type("adapter"))
    assert "no causal language model: llama adapter" in what


def test_a_file_without_an_embedding_is_refused(tmp_path):
    path, header = header_of(tmp_path)
    with pytest.raises(UsageError, match=r"has no token_embd\.weight"):
        gguf_shape(path, type(header)(header.fields, {}))


def test_tokens_are_counted_whether_they_were_read_or_stepped_over(tmp_path):
    many = tuple(f"t{n}" for n in range(1500))
    assert token_count(header_of(tmp_path / "few")[1]) == len(TOKENS)
    assert token_count(header_of(tmp_path / "many", tokens=many)[1]) == 1500
    assert token_count(header_of(tmp_path / "none", tokens=None)[1]) is None


def test_the_one_gguf_of_a_directory_is_found(tmp_path):
    assert find_gguf(tmp_path) is None
    write_gguf(tmp_path)
    assert find_gguf(tmp_path) == tmp_path / "tiny.gguf"


def test_several_gguf_files_are_refused_by_name(tmp_path):
    for name in ("a-00001-of-00002.gguf", "a-00002-of-00002.gguf"):
        (tmp_path / name).touch()
    with pytest.raises(UsageError, match="holds 2 GGUF files: a-00001-of-00002"):
        find_gguf(tmp_path)
