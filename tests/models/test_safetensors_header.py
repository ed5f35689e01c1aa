"""The header reader agrees with the safetensors library and refuses broken files."""

import json

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save, save_file

from trtspec.errors import UsageError
from trtspec.models.safetensors_header import read_header
from trtspec.models.tensor_header import TensorHeader

NUMPY_TYPES = ["float64", "float32", "float16", "int64", "int32", "uint8", "bool"]
FILES_OF_ONE_TEST = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)


def write(path, header, data=b""):
    """Write a file with any header: an object, or the bytes themselves."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def entry(begin, end, dtype="F32", shape=None):
    """Describe one tensor of a header."""
    shape = [(end - begin) // 4] if shape is None else shape
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.safetensors"


def refusal(path):
    """Give the message that the reader refuses a file with."""
    with pytest.raises(UsageError) as caught:
        read_header(path)
    assert caught.value.problems[0].action
    assert str(path.parent) in str(caught.value)
    return caught.value.problems[0].what


@FILES_OF_ONE_TEST
@given(
    tensors=st.dictionaries(
        st.text(min_size=1, max_size=8).filter(lambda name: name != "__metadata__"),
        st.tuples(
            st.sampled_from(NUMPY_TYPES), st.lists(st.integers(0, 4), max_size=3)
        ),
        min_size=1,
        max_size=5,
    )
)
def test_names_types_shapes_and_sizes_are_those_that_were_saved(tensors, path):
    arrays = {name: np.zeros(shape, dtype) for name, (dtype, shape) in tensors.items()}
    path.write_bytes(save(arrays))
    assert read_header(path) == {
        name: TensorHeader(str(array.dtype), array.shape, array.nbytes)
        for name, array in arrays.items()
    }


def test_metadata_is_no_tensor(path):
    save_file({"a": np.zeros(2, np.float32)}, path, metadata={"format": "pt"})
    assert list(read_header(path)) == ["a"]


def test_bfloat16_is_read_without_numpy_knowing_it(path):
    write(path, {"a": entry(0, 8, "BF16", [2, 2])}, bytes(8))
    assert read_header(path)["a"] == TensorHeader("bfloat16", (2, 2), 8)
    with safe_open(path, "numpy") as library:
        assert library.get_slice("a").get_shape() == [2, 2]


@pytest.mark.parametrize(
    ("dtype", "size", "shape"),
    [
        ("F6_E2M3", 3, [4]), ("F6_E3M2", 3, [4]), ("F8_E4M3FNUZ", 4, [4]),
        ("F8_E5M2FNUZ", 4, [4]), ("F8_E8M0", 4, [4]), ("C64", 8, [1]),
    ],
)  # fmt: skip
def test_the_rarer_types_of_the_library_are_known(path, dtype, size, shape):
    write(path, {"a": entry(0, size, dtype, shape)}, bytes(size))
    assert read_header(path)["a"].shape == tuple(shape)
    with safe_open(path, "numpy") as library:
        assert library.get_slice("a").get_shape() == shape


@pytest.mark.parametrize("dtype", ["Q9", "f32", "Q" * 5000])
def test_a_type_that_the_library_does_not_know_is_damage(path, dtype):
    write(path, {"a": entry(0, 4, dtype, [1])}, bytes(4))
    assert f"tensor a the unknown type {dtype[:20]}" in refusal(path)
    assert len(refusal(path)) < 150
    with pytest.raises(SafetensorError):
        safe_open(path, "numpy")


@pytest.mark.parametrize("header", [{}, {"__metadata__": 5}, {"__metadata__": {}}])
def test_a_file_without_tensors_is_damaged(path, header):
    write(path, header)
    assert "holds no tensors" in refusal(path)


def test_types_below_a_byte_are_measured_in_bits(path):
    write(path, {"a": entry(0, 4, "F4", [8])}, bytes(4))
    assert read_header(path)["a"].elements == 8


def test_a_truncated_file_is_told_with_both_sizes(path):
    save_file({"a": np.zeros(1000, np.float32)}, path)
    whole = path.stat().st_size
    path.write_bytes(path.read_bytes()[:-1500])
    what = refusal(path)
    assert "model.safetensors is truncated" in what
    assert f"expected {whole:,}" in what
    assert f"found {whole - 1500:,}" in what


@FILES_OF_ONE_TEST
@given(data=st.data())
def test_a_file_cut_anywhere_is_refused(data, path):
    whole = save({"a": np.arange(6, dtype=np.float32), "b": np.zeros(3, np.int64)})
    cut = data.draw(st.integers(0, len(whole) - 1))
    path.write_bytes(whole[:cut])
    assert "truncated" in refusal(path)


@FILES_OF_ONE_TEST
@given(noise=st.binary(max_size=200))
def test_noise_is_refused_like_any_other_damage(noise, path):
    path.write_bytes(noise)
    refusal(path)


@FILES_OF_ONE_TEST
@given(
    header=st.recursive(
        st.none() | st.integers() | st.text(max_size=4) | st.booleans(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["dtype", "shape", "data_offsets", "a"]), inner
            )
        ),
        max_leaves=8,
    )
)
def test_any_json_as_header_is_refused_but_never_crashes(header, path):
    write(path, header)
    refusal(path)  # no header of these values describes a whole tensor


def test_an_absurd_header_length_is_refused_without_reading_it(path):
    path.write_bytes((2**63).to_bytes(8, "little") + b"{}")
    assert "not a safetensors file" in refusal(path)


def test_a_git_lfs_pointer_is_recognised(path):
    path.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\n")
    with pytest.raises(UsageError) as caught:
        read_header(path)
    assert "Git LFS pointer" in caught.value.problems[0].what
    assert "git lfs pull" in caught.value.problems[0].action


@pytest.mark.parametrize("header", [b"{", b"\xff\xfe", b"[" * 100_000])
def test_a_header_that_is_not_json_is_refused(path, header):
    assert "not JSON" in refusal(write(path, header))


def test_overlapping_tensors_are_refused(path):
    write(path, {"a": entry(0, 8), "b": entry(4, 12)}, bytes(12))
    assert "tensor b at byte 4 overlaps" in refusal(path)


def test_a_gap_between_tensors_is_refused(path):
    write(path, {"a": entry(0, 8), "b": entry(12, 16)}, bytes(16))
    assert "tensor b at byte 12 leaves a gap" in refusal(path)


def test_offsets_behind_the_end_of_the_file_are_a_truncation(path):
    write(path, {"a": entry(0, 4_000_000)}, bytes(16))
    assert "truncated" in refusal(path)


def test_bytes_that_no_tensor_explains_are_refused(path):
    write(path, {"a": entry(0, 8)}, bytes(13))
    assert "has 5 bytes that its header does not explain" in refusal(path)


def test_a_shape_that_does_not_fit_the_bytes_is_refused(path):
    write(path, {"a": entry(0, 8, "F32", [3])}, bytes(8))
    assert "tensor a of F32 [3] takes 8 bytes" in refusal(path)


@pytest.mark.parametrize(
    "offsets", [None, [0], [0, 4, 8], [8, 0], [-4, 4], [0, 4.0], [False, True], "0,4"]
)
def test_impossible_offsets_are_refused(path, offsets):
    write(
        path, {"a": {"dtype": "F32", "shape": [1], "data_offsets": offsets}}, bytes(4)
    )
    assert "impossible place" in refusal(path)


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [(None, [1]), (7, [1]), ("F32", None), ("F32", [-1]), ("F32", 1)],
)
def test_impossible_types_and_shapes_are_refused(path, dtype, shape):
    write(path, {"a": entry(0, 4, dtype) | {"shape": shape}}, bytes(4))
    assert "gives tensor a type" in refusal(path)


def test_a_missing_file_is_the_callers_matter(path):
    with pytest.raises(FileNotFoundError):
        read_header(path)
