"""A tensor's elements, and the type that most bytes are stored in."""

from trtspec.models.tensor_header import TensorHeader, stored_dtype


def test_elements_are_the_product_of_the_shape():
    assert TensorHeader("float32", (2, 3, 4), 96).elements == 24


def test_a_scalar_has_one_element_and_an_empty_tensor_none():
    assert TensorHeader("float32", (), 4).elements == 1
    assert TensorHeader("float32", (5, 0), 0).elements == 0


def test_the_stored_type_is_that_of_most_bytes_not_of_most_tensors():
    norms = [TensorHeader("float32", (8,), 32)] * 10
    weight = TensorHeader("bfloat16", (64, 64), 8192)
    assert stored_dtype([*norms, weight]) == "bfloat16"


def test_without_tensors_there_is_no_stored_type():
    assert stored_dtype([]) == "none"
