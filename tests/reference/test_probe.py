"""Models that slots would get wrong are refused before anything runs."""

from __future__ import annotations

import pytest
import torch

from tests.reference.toys import SHAPES, make_toy, toy_model
from trtspec.errors import RunError
from trtspec.reference.probe import require_faithful
from trtspec.reference.slots import SlotModel


def slots_of(model, slots=2, max_tokens=40):
    return SlotModel(model, slots, max_tokens, longest_step=5)


@pytest.mark.parametrize("family", SHAPES)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_models_that_go_by_positions_and_mask_pass(family, count):
    slots = slots_of(toy_model(family), count)
    require_faithful(slots, toy_model(family))
    assert slots.lengths == [0] * count
    for layer in slots._lm.layers:
        assert not layer.keys.any()
        assert not layer.values.any()


def test_the_smallest_limits_have_room_for_the_probe():
    require_faithful(slots_of(toy_model(), max_tokens=2), toy_model())


UNFAITHFUL = {
    "gpt_neo": {
        "num_layers": 2,
        "num_heads": 4,
        "attention_types": [[["global", "local"], 1]],
        "window_size": 3,
    },
    "bloom": {"n_layer": 2, "n_head": 4},
}


@pytest.mark.parametrize("family", UNFAITHFUL)
def test_models_that_do_not_are_refused(family):
    model = make_toy(family, **UNFAITHFUL[family])
    with pytest.raises(RunError, match="cannot run this model exactly"):
        require_faithful(slots_of(model), model)


def test_recurrent_models_are_refused():
    model = make_toy("mamba", state_size=4)
    with pytest.raises(RunError, match=r"rolled back|exactly"):
        require_faithful(slots_of(model), model)


def test_models_whose_logits_are_not_finite_are_refused():
    model = make_toy("llama", **SHAPES["llama"])
    with torch.no_grad():
        model.lm_head.weight[5] = torch.nan
    with pytest.raises(RunError, match="exactly"):
        require_faithful(slots_of(model), model)


LONG = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "short_factor": [1.0] * 4,
    "long_factor": [3.0] * 4,
    "original_max_position_embeddings": 60,
}
ORIGINAL = {"original_max_position_embeddings": 60}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0}


@pytest.mark.parametrize(
    ("family", "rope", "below", "beyond"),
    [
        ("phi3", {"rope_parameters": LONG, **ORIGINAL}, 40, 60),
        ("llama", {"rope_parameters": DYNAMIC}, 200, 300),
    ],
)
def test_positions_that_depend_on_the_batch_are_refused_where_they_would(
    family, rope, below, beyond
):
    model = make_toy(family, **rope, **SHAPES[family])
    require_faithful(slots_of(model, max_tokens=below), model)
    with pytest.raises(RunError, match="position encoding") as caught:
        slots_of(model, max_tokens=beyond)
    assert "limits.max_total_tokens" in str(caught.value)
