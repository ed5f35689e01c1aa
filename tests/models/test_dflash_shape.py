"""DFlash drafters are described by what TensorRT-LLM reads of them."""

import pytest

from tests.models.drafters import DFLASH_CONFIG, write_dflash, write_eagle3
from tests.models.tiny import HIDDEN, ROWS
from trtspec.errors import UsageError
from trtspec.models.drafter import describe_drafter

NO_LAYERS = {"mask_token_id": 15}


def refusal(directory):
    with pytest.raises(UsageError) as caught:
        describe_drafter(directory, "dflash")
    return caught.value.problems[0]


@pytest.mark.parametrize("prefix", ["layers.", "model.layers."])
def test_a_drafter_is_described(tmp_path, prefix):
    info = describe_drafter(write_dflash(tmp_path, prefix=prefix), "dflash")
    assert (info.layers, info.layer_prefix) == (2, prefix)
    assert (info.hidden_size, info.width, info.captured_states) == (HIDDEN, HIDDEN, 3)
    assert (info.block_size, info.mask_token) == (16, 15)
    assert info.target_layers == (1, 8, 15)
    assert (info.target_vocabulary, info.family) == (ROWS, "qwen3")


def test_keys_at_the_top_count_too(tmp_path):
    drafter = write_dflash(
        tmp_path, dflash_config=None, mask_token_id=0, target_layer_ids=[1, 2, 3]
    )
    info = describe_drafter(drafter, "dflash")
    assert (info.mask_token, info.target_layers) == (0, (1, 2, 3))


def test_what_the_configuration_does_not_tell_is_not_known(tmp_path):
    drafter = write_dflash(tmp_path, dflash_config=None, block_size=None, states=5)
    info = describe_drafter(drafter, "dflash")
    assert (info.mask_token, info.target_layers, info.block_size) == (None, None, None)
    assert info.captured_states == 5


def test_a_pickled_drafter_is_that_of_the_configuration(tmp_path):
    info = describe_drafter(write_dflash(tmp_path, pickled=True), "dflash")
    assert (info.layers, info.captured_states, info.format) == (2, 3, "torch")
    assert info.layer_prefix is None


def test_an_eagle3_head_is_refused_with_its_method(tmp_path):
    problem = refusal(write_eagle3(tmp_path))
    assert "is an EAGLE-3 head" in problem.what
    assert "method: eagle3" in problem.action


def test_the_speculators_layout_is_refused(tmp_path):
    drafter = write_dflash(
        tmp_path,
        speculators_config={"algorithm": "dflash"},
        transformer_layer_config=DFLASH_CONFIG,
    )
    assert "speculators library (speculators_config: ...)" in refusal(drafter).what


@pytest.mark.parametrize(
    ("written", "what"),
    [
        ({"left_out": ["fc.weight"]}, "no tensor fc.weight"),
        ({"left_out": ["hidden_norm.weight"]}, "no tensor hidden_norm.weight"),
        ({"layers": 0}, "no layer"),
        ({"layers": 3}, "num_hidden_layers is 2, but the weights hold 3"),
        ({"states": 2}, "names 3 layers, and fc.weight reads 2"),
        ({"hidden_size": 5, "dflash_config": NO_LAYERS}, "hidden_size is 5"),
        ({"block_size": "16"}, "block_size is '16'"),
        ({"dflash_config": {"mask_token_id": -1}}, "mask_token_id is -1"),
        ({"dflash_config": {"target_layer_ids": [1.5]}}, "target_layer_ids is [1.5]"),
    ],
)
def test_parts_that_do_not_fit_are_refused_with_their_figures(tmp_path, written, what):
    assert what in refusal(write_dflash(tmp_path, **written)).what
