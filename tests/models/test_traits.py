"""MTP heads, MLA and mask tokens are found under the names that models have."""

import pytest

from trtspec.models import traits


@pytest.mark.parametrize(
    ("config", "heads"),
    [
        ({}, 0),
        ({"num_nextn_predict_layers": 1}, 1),
        ({"num_nextn_predict_layers": 0}, 0),
        ({"mtp_num_hidden_layers": 2}, 2),
        ({"num_nextn_predict_layers": None, "mtp_num_hidden_layers": 1}, 1),
        ({"num_nextn_predict_layers": True}, 0),
    ],
)
def test_next_token_heads_are_counted(config, heads):
    assert traits.next_token_heads(config) == heads


@pytest.mark.parametrize(
    ("config", "size"),
    [
        ({"kv_lora_rank": 512, "qk_rope_head_dim": 64}, 576),
        ({"kv_lora_rank": 512}, 512),
        ({"kv_lora_rank": None, "qk_rope_head_dim": 64}, None),
        ({}, None),
    ],
)
def test_the_latent_and_its_positions_are_cached(config, size):
    assert traits.latent_size(config) == size


@pytest.mark.parametrize(
    ("config", "token"),
    [
        ({"pard_token": 7, "mask_token_id": 8}, 7),
        ({"mask_token_id": 0}, 0),
        ({"mask_token_id": "x"}, None),
        ({}, None),
    ],
)
def test_the_mask_token_is_the_first_that_is_named(config, token):
    assert traits.mask_token(config) == token
