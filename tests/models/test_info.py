"""Sizes that follow from a model's shape."""

from dataclasses import replace
from pathlib import Path

import pytest

from trtspec.models.demo import DEMO


def test_keys_and_values_of_all_layers_make_the_bytes_of_a_token():
    # SmolLM2-135M: 2 x 30 layers x 3 KV heads x 64 values
    assert DEMO.info.kv_bytes_per_token("bfloat16") == 23_040
    assert DEMO.info.kv_bytes_per_token("float16") == 23_040
    assert DEMO.info.kv_bytes_per_token("float32") == 46_080


def test_a_cache_type_that_does_not_exist_is_an_error():
    with pytest.raises(KeyError):
        DEMO.info.kv_bytes_per_token("q4_1")


def test_converted_weights_take_bytes_by_the_wanted_type_not_by_the_stored():
    assert DEMO.info.weight_bytes == 96_576_768
    assert DEMO.info.weight_bytes_in("bfloat16") == 2 * 134_515_008
    assert DEMO.info.weight_bytes_in("float32") == 4 * 134_515_008


def test_two_copies_of_a_checkpoint_compare_equal_wherever_they_are():
    assert replace(DEMO.info, directory=Path("here")) == DEMO.info
    assert replace(DEMO.info, layers=31) != DEMO.info
