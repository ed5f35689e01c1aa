"""EAGLE-3 drafters are told apart by their tensors, their keys or their class."""

import pytest

from tests.models.drafters import write_eagle
from trtspec.errors import UsageError
from trtspec.models.drafter import describe_drafter

LAYER_IDS = {"eagle_aux_hidden_state_layer_ids": [2, 16, 29]}


def refusal(directory):
    with pytest.raises(UsageError) as caught:
        describe_drafter(directory, "eagle")
    return caught.value.problems[0]


@pytest.mark.parametrize("name", ["d2t", "t2d", "midlayer.self_attn.q_proj.weight"])
def test_its_tensors_give_it_away(tmp_path, name):
    problem = refusal(write_eagle(tmp_path, extra=[name]))
    assert "is an EAGLE-3 drafter" in problem.what
    assert f"it holds the tensor {name}" in problem.what
    assert problem.where == str(tmp_path)
    assert "backend pytorch" in problem.action


@pytest.mark.parametrize(
    "config",
    [
        {"draft_vocab_size": 32000},
        {"architectures": ["LlamaForCausalLMEagle3"]},
        {"eagle_config": LAYER_IDS},
        LAYER_IDS,
    ],
)
@pytest.mark.parametrize("pickled", [True, False])
def test_its_configuration_gives_it_away_even_if_pickled(tmp_path, config, pickled):
    problem = refusal(write_eagle(tmp_path, pickled=pickled, **config))
    assert "engine backend cannot take" in problem.what
    assert "config.json" in problem.what


def test_an_eagle_1_drafter_is_none(tmp_path):
    assert describe_drafter(write_eagle(tmp_path, eagle_config={}), "eagle").layers == 1
