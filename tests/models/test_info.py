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


def test_latent_attention_caches_its_latent_whatever_the_heads_are():
    # DeepSeek-V3: 512 + 64 values in each of 61 layers
    latent = replace(DEMO.info, layers=61, latent_size=576)
    assert latent.kv_bytes_per_token("bfloat16") == 61 * 576 * 2
    assert latent.kv_bytes_per_token("fp8") == 61 * 576


@pytest.mark.parametrize("field", ["layer_types", "implied_kinds"])
def test_layers_with_a_state_of_fixed_size_cache_nothing_per_token(field):
    kinds = ("linear_attention", "mamba", "full_attention", "of_a_new_kind")
    hybrid = replace(DEMO.info, layers=4, **{field: kinds})
    assert hybrid.cached_layers == 2
    assert hybrid.kv_bytes_per_token("float16") == 2 * 2 * 3 * 64 * 2


def test_layers_that_look_back_a_window_cache_a_token_and_may_forget_it():
    kinds = ("sliding_attention", "full_attention") * 15
    half = replace(DEMO.info, layer_types=kinds, sliding_window=1024)
    assert half.kv_bytes_per_token("float16") == 23_040
    assert half.windowed_bytes_per_token("float16") == 23_040 // 2
    every = replace(DEMO.info, sliding_window=1024)
    assert every.windowed_bytes_per_token("float16") == 23_040
    assert DEMO.info.windowed_bytes_per_token("float16") == 0


@pytest.mark.parametrize(("highest", "lacking"), [(None, False), (49151, False)])
def test_the_highest_id_has_a_row(highest, lacking):
    assert replace(DEMO.info, highest_token=highest).lacks_rows is lacking


def test_an_id_beyond_the_rows_has_none_however_few_entries_there_are():
    sparse = replace(DEMO.info, highest_token=49152, tokenizer_entries=10)
    assert sparse.lacks_rows


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
