"""Kinds of layers follow from other keys, and from families, as transformers has it."""

import pytest

from trtspec.models.layer_kinds import FULL, RECURRENT, SLIDING, implied_kinds

R, F, S = RECURRENT, FULL, SLIDING


@pytest.mark.parametrize(
    ("config", "kinds"),
    [
        ({"model_type": "llama"}, ()),
        ({"model_type": "qwen3_next"}, (R, R, R, F, R, R)),
        ({"model_type": "other", "full_attention_interval": 2}, (R, F, R, F, R, F)),
        ({"model_type": "jamba"}, (R, R, R, R, F, R)),
        (
            {"model_type": "jamba", "attn_layer_period": 3, "attn_layer_offset": 0},
            (F, R, R, F, R, R),
        ),
        ({"model_type": "bamba", "attn_layer_indices": [1]}, (R, F, R, R, R, R)),
        ({"hybrid_override_pattern": "M-M*EM"}, (R, "mlp", R, F, "moe", R)),
        ({"block_types": ["recurrent", "recurrent", "attention"]}, (R, R, S, R, R, S)),
        ({"layers_block_type": ["mamba", "hybrid"]}, ("mamba", "hybrid")),
        (
            {"linear_attn_config": {"kda_layers": [1, 2, 3, 5]}},
            (R, R, R, F, R, F),
        ),
        ({"model_type": "gemma2"}, (S, F, S, F, S, F)),
        ({"model_type": "gemma3_text"}, (S, S, S, S, S, F)),
        (
            {"model_type": "gemma3_text", "sliding_window_pattern": 3},
            (S, S, F, S, S, F),
        ),
    ],
)
def test_kinds_follow_from_what_the_configuration_has(config, kinds):
    assert implied_kinds(config, 6) == kinds


@pytest.mark.parametrize("layers", [10**12, 10_001])
def test_more_layers_than_any_model_has_imply_nothing(layers):
    assert implied_kinds({"model_type": "qwen3_next"}, layers) == ()


def test_an_interval_of_any_size_takes_no_memory():
    config = {"full_attention_interval": 10**12}
    assert implied_kinds(config, 2) == (RECURRENT, RECURRENT)
