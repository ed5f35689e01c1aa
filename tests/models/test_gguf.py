"""The GGUF reader agrees with the gguf package and refuses broken files."""

import struct

import gguf
import numpy as np
import pytest
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFReader
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.models.tiny import TOKENS, write_gguf
from trtspec.errors import UsageError
from trtspec.models.gguf import _BLOCKS, LongArray, read_gguf
from trtspec.models.tensor_header import TensorHeader

MANY = tuple(f"token {index}" for index in range(2000))
FILES_OF_ONE_TEST = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Give the bytes of a small valid file."""
    directory = write_gguf(tmp_path_factory.mktemp("gguf"), quantized=True)
    return (directory / "tiny.gguf").read_bytes()


def refusal(path):
    with pytest.raises(UsageError) as caught:
        read_gguf(path)
    assert caught.value.problems[0].action
    return caught.value.problems[0].what


def test_every_kind_of_field_is_read(tmp_path):
    def extra(writer):
        writer.add_uint8("x.u8", 200)
        writer.add_int8("x.i8", -3)
        writer.add_uint16("x.u16", 60_000)
        writer.add_int16("x.i16", -30_000)
        writer.add_int32("x.i32", -5)
        writer.add_uint64("x.u64", 2**60)
        writer.add_int64("x.i64", -(2**60))
        writer.add_float32("x.f32", 0.5)
        writer.add_float64("x.f64", 0.1)
        writer.add_bool("x.flag", True)
        writer.add_string("x.text", "grün")
        writer.add_array("x.numbers", [1, 2, 3])
        writer.add_array("x.words", ["a", "bc"])

    fields = read_gguf(write_gguf(tmp_path, extra=extra) / "tiny.gguf").fields
    assert {key: value for key, value in fields.items() if key.startswith("x.")} == {
        "x.u8": 200,
        "x.i8": -3,
        "x.u16": 60_000,
        "x.i16": -30_000,
        "x.i32": -5,
        "x.u64": 2**60,
        "x.i64": -(2**60),
        "x.f32": 0.5,
        "x.f64": 0.1,
        "x.flag": True,
        "x.text": "grün",
        "x.numbers": [1, 2, 3],
        "x.words": ["a", "bc"],
    }
    assert fields["general.architecture"] == "llama"


def test_tensors_have_the_shape_and_bytes_that_the_gguf_package_sees(tmp_path):
    path = write_gguf(tmp_path, quantized=True) / "tiny.gguf"
    ours = read_gguf(path).tensors
    theirs = GGUFReader(path).tensors
    assert len(ours) == len(theirs) == 3
    for tensor in theirs:
        assert ours[tensor.name] == TensorHeader(
            dtype={"F32": "float32"}.get(
                tensor.tensor_type.name, tensor.tensor_type.name.lower()
            ),
            shape=tuple(int(n) for n in reversed(tensor.shape)),
            nbytes=int(tensor.n_bytes),
        )


def test_the_table_of_block_types_is_that_of_the_gguf_package():
    for number, (name, elements, nbytes) in _BLOCKS.items():
        kind = GGMLQuantizationType(number)
        assert GGML_QUANT_SIZES[kind] == (elements, nbytes), name
        if name.startswith(("q", "iq", "tq", "mx")):
            assert kind.name.lower() == name


def test_long_lists_are_stepped_over_unless_they_are_wanted(tmp_path):
    def extra(writer):
        writer.add_array("x.scores", [0.5] * 3000)
        writer.add_string("x.after", "still in step")

    path = write_gguf(tmp_path, tokens=MANY, extra=extra) / "tiny.gguf"
    fields = read_gguf(path).fields
    assert fields["tokenizer.ggml.tokens"] == LongArray(2000)
    assert fields["x.scores"] == LongArray(3000)
    assert fields["x.after"] == "still in step"
    wanted = read_gguf(path, decode=frozenset({"tokenizer.ggml.tokens"})).fields
    assert wanted["tokenizer.ggml.tokens"] == list(MANY)
    assert wanted["x.scores"] == LongArray(3000)


def test_short_lists_are_read_at_once(tmp_path):
    fields = read_gguf(write_gguf(tmp_path) / "tiny.gguf").fields
    assert fields["tokenizer.ggml.tokens"] == list(TOKENS)


def test_tokens_that_are_not_utf8_do_not_stop_the_reader(tmp_path):
    path = write_gguf(tmp_path, tokens=("t0", b"\xff\xfe")) / "tiny.gguf"
    tokens = read_gguf(path).fields["tokenizer.ggml.tokens"]
    assert tokens == ["t0", "\\xff\\xfe"]


def test_a_wider_alignment_moves_the_tensors(tmp_path):
    def extra(writer):
        writer.add_custom_alignment(4096)

    path = write_gguf(tmp_path, extra=extra) / "tiny.gguf"
    assert read_gguf(path).fields["general.alignment"] == 4096
    path.write_bytes(path.read_bytes()[:-4096])
    assert "truncated" in refusal(path)


def test_a_file_without_its_last_tensor_bytes_is_told_with_both_sizes(tmp_path, whole):
    path = tmp_path / "cut.gguf"
    path.write_bytes(whole[:-1000])
    what = refusal(path)
    assert what.startswith("cut.gguf is truncated: expected ")
    assert f"found {len(whole) - 1000:,}" in what


@FILES_OF_ONE_TEST
@given(data=st.data())
def test_a_header_cut_anywhere_is_refused(data, tmp_path, whole):
    path = tmp_path / "cut.gguf"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1024))])
    assert "truncated" in refusal(path) or "is not a GGUF file" in refusal(path)


@FILES_OF_ONE_TEST
@given(place=st.integers(0, 600), value=st.integers(0, 255))
def test_a_changed_byte_is_read_or_refused_but_never_crashes(
    place, value, tmp_path, whole
):
    path = tmp_path / "changed.gguf"
    path.write_bytes(whole[:place] + bytes([value]) + whole[place + 1 :])
    try:
        header = read_gguf(path)
    except UsageError:
        return
    # what is read is whole: as many tensors as the file has
    assert len(header.tensors) <= 3


def test_another_file_is_no_gguf(tmp_path):
    path = tmp_path / "x.gguf"
    path.write_bytes(b"PK\x03\x04 something else")
    assert refusal(path) == "x.gguf is not a GGUF file"


@pytest.mark.parametrize("version", [1, 4, 3 << 24])
def test_an_unknown_version_is_refused(tmp_path, whole, version):
    path = tmp_path / "x.gguf"
    path.write_bytes(whole[:4] + struct.pack("<I", version) + whole[8:])
    assert f"version {version}" in refusal(path)


def test_absurd_counts_end_at_the_end_of_the_file(tmp_path, whole):
    path = tmp_path / "x.gguf"
    path.write_bytes(whole[:8] + struct.pack("<QQ", 2**63, 2**63) + whole[24:])
    assert "corrupt" in refusal(path)


def test_an_unknown_tensor_type_is_refused(tmp_path):
    path = write_gguf(tmp_path) / "tiny.gguf"
    content = path.read_bytes()
    name = b"token_embd.weight"
    at = content.index(name) + len(name) + 4 + 2 * 8
    path.write_bytes(content[:at] + struct.pack("<I", 4) + content[at + 4 :])
    assert "stores tensor token_embd.weight in unknown type 4" in refusal(path)


def test_a_quantized_tensor_counts_elements_not_blocks(tmp_path):
    tensors = read_gguf(write_gguf(tmp_path, quantized=True) / "tiny.gguf").tensors
    up = tensors["blk.0.ffn_up.weight"]
    assert up == TensorHeader("q4_1", (64, 32), 64 * 20)
    assert up.elements == np.prod((64, 32))
    assert gguf.GGMLQuantizationType.Q4_1 == 3
