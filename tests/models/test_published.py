"""Published quantization is told as it is named, and in a recipe's words if it can."""

import json

import pytest

from trtspec.errors import UsageError
from trtspec.models.published import MODELOPT, published_quantization


def beside(directory, **section):
    (directory / MODELOPT).write_text(json.dumps({"quantization": section}))


@pytest.mark.parametrize(
    ("algorithm", "word"),
    [
        ("FP8", "fp8"),
        ("NVFP4", "nvfp4"),
        ("W4A16_AWQ", "int4_awq"),
        ("W8A8_SQ_PER_CHANNEL", "int8_sq"),
        ("W8A16", "int8_wo"),
        ("FP8_BLOCK_SCALES", None),
        ("W4A8_MXFP4_FP8", None),
        ("MIXED_PRECISION", None),
    ],
)
@pytest.mark.parametrize("inside", [True, False])
def test_modelopt_has_words_for_its_algorithms(tmp_path, algorithm, word, inside):
    section = {"quant_algo": algorithm, "kv_cache_quant_algo": "FP8"}
    config = {"quantization_config": {"quant_method": "modelopt", **section}}
    if not inside:
        beside(tmp_path, **section)
        config = {}
    found = published_quantization(tmp_path, config)
    assert found == (algorithm.lower(), word, "fp8")


@pytest.mark.parametrize(
    "own",
    [
        {"quant_method": "fp8", "weight_block_size": [128, 128]},
        {"quant_method": "mxfp4"},
        {"quant_method": "gptq", "bits": 4},
        {"quant_method": "awq", "bits": 4},
        {"quant_method": "compressed-tensors"},
    ],
)
def test_other_libraries_have_a_name_and_no_word(tmp_path, own):
    found = published_quantization(tmp_path, {"quantization_config": own})
    assert found == (own["quant_method"], None, None)


def test_plain_weights_are_none(tmp_path):
    assert published_quantization(tmp_path, {}) == ("none", "none", None)
    assert (
        published_quantization(tmp_path, {"quantization_config": None}).word == "none"
    )
    beside(tmp_path, quant_algo=None, kv_cache_quant_algo="FP8")
    assert published_quantization(tmp_path, {}) == ("none", "none", "fp8")


def test_what_has_no_name_is_not_taken_for_plain(tmp_path):
    found = published_quantization(tmp_path, {"quantization_config": {}})
    assert found == ("unnamed", None, None)


def test_a_damaged_file_is_refused(tmp_path):
    (tmp_path / MODELOPT).write_text("{")
    with pytest.raises(UsageError, match="not valid JSON"):
        published_quantization(tmp_path, {})


SCHEMES = {
    "eight bits of float": ({"type": "float", "num_bits": 8}, "fp8"),
    "four bits of float": ({"type": "float", "num_bits": 4}, "nvfp4"),
    "eight bits of int": ({"type": "int", "num_bits": 8}, "int8"),
    "a word": ("FP8", "fp8"),
    "others": ({"type": "int", "num_bits": 4}, "int4"),
    "nothing": ({}, None),
    "no bits": ({"type": "float"}, None),
    "nonsense": ({"type": None, "num_bits": True}, None),
    "null": (None, None),
}


@pytest.mark.parametrize("method", ["compressed-tensors", "modelopt"])
@pytest.mark.parametrize(("scheme", "named"), SCHEMES.values(), ids=SCHEMES)
def test_the_scheme_of_the_cache_is_told_as_one_type(tmp_path, method, scheme, named):
    section = {"quant_method": method, "kv_cache_scheme": scheme}
    found = published_quantization(tmp_path, {"quantization_config": section})
    assert found == (method, None, named)


@pytest.mark.parametrize(
    ("value", "is_what"), [("fp8", "a string"), ([1], "a list"), (False, "true or")]
)
def test_a_section_that_is_no_object_is_damage_not_plain_weights(
    tmp_path, value, is_what
):
    with pytest.raises(UsageError, match=f"quantization_config is {is_what}") as told:
        published_quantization(tmp_path, {"quantization_config": value})
    assert "delete the key" in told.value.problems[0].action
