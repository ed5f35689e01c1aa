"""Which hidden states an EAGLE-3 head reads, in every way to say it."""

from __future__ import annotations

import json

import pytest

from trtspec.errors import RunError
from trtspec.reference.capture import FINAL
from trtspec.reference.heads.eagle3_captured import captured_layers

IDS = "eagle_aux_hidden_state_layer_ids"
LAYERS = 32
SPECULATORS = {"speculators_model_type": "eagle3"}


@pytest.fixture
def head(tmp_path):
    def write(**config):
        (tmp_path / "config.json").write_text(json.dumps(config))
        return tmp_path

    return write


def test_without_a_word_they_are_those_of_the_authors(head):
    assert captured_layers(head(), 3, LAYERS, None) == (1, 15, 28)


def test_the_only_one_is_the_last(head):
    assert captured_layers(head(), 1, LAYERS, None) == (31,)


@pytest.mark.parametrize(
    "config", [{IDS: [1, 9, 4]}, {"eagle_config": {IDS: [1, 9, 4]}}]
)
def test_the_configuration_names_outputs_of_layers_in_the_heads_order(head, config):
    assert captured_layers(head(**config), 3, LAYERS, None) == (1, 9, 4)


def test_speculators_names_the_layer_after(head):
    config = {**SPECULATORS, IDS: [2, 16, 32]}
    assert captured_layers(head(**config), 3, LAYERS, None) == (1, 15, 31)


def test_the_recipe_goes_first_and_is_a_set_with_the_final_state_last(head):
    wanted = (-1, 20, 3)
    assert captured_layers(head(**{IDS: [1, 2, 4]}), 3, LAYERS, wanted) == (
        3,
        20,
        FINAL,
    )


@pytest.mark.parametrize(
    ("config", "asked", "told"),
    [
        ({}, (3, 5, None), "a target of 5 layers"),
        ({}, (4, 32, None), "fuses 4 states"),
        ({IDS: [1, 2]}, (3, 32, None), "2 are named"),
        ({}, (3, 32, (1, 2, 32)), "layers 1, 2, 32"),
        ({}, (3, 32, (1, 2, 2)), "2 are named"),
        ({IDS: [0, 1, 2], **SPECULATORS}, (3, 32, None), "embeddings"),
    ],
)
def test_what_cannot_be_is_refused_with_advice(head, config, asked, told):
    with pytest.raises(RunError, match=told) as caught:
        captured_layers(head(**config), *asked)
    assert "layers_to_capture" in str(caught.value)
