"""Heads given to the wrong method, or that their recipe does not fit, are refused.

Reports behind them: NVIDIA/TensorRT-LLM #2506, #2588, #6492, PR 10124; FasterDecoding/
Medusa #76, #81, #140; SafeAILab/EAGLE #214; SGLang PR 21272; speculators PR 358.
"""

import pytest

from tests.check.samples import loaded
from tests.models.heads import (
    eagle3_config,
    eagle3_tensors,
    eagle_tensors,
    medusa_tensors,
    write_target,
)
from tests.models.large import write_headers
from trtspec.check import check_recipe
from trtspec.cli.common import backend_for
from trtspec.errors import RecipeError

TREE = [[0], [0, 0], [0, 0, 0], [0, 0, 0, 0]]
EAGLE3 = {"method": "eagle3", "model": "./draft", "draft_length": 3}
DRAFT_TARGET = {"method": "draft_target", "model": "./draft", "draft_length": 3}
IDS = {"eagle_aux_hidden_state_layer_ids": [0, 1]}


def blocking(folder, backend, speculation, version=None, **changes):
    """Check a recipe as the command does; gives what blocks, one text per finding."""
    recipe = loaded(folder, backend=backend, speculation=speculation, **changes)
    chosen = backend_for(recipe.recipe, trtllm=version)
    found = check_recipe(
        recipe, missing=chosen.missing, rules=chosen.rules, version=chosen.version
    )
    shown = [f for f in found if f.blocks and f.rule != "tokenizer"]
    return [f"{f.rule}: {f.what}; {f.why}; {f.action}" for f in shown]


@pytest.fixture
def folder(tmp_path):
    write_target(tmp_path / "target")
    return tmp_path


def write_medusa(folder, heads, rows=128256):
    write_headers(folder / "draft", {}, medusa_tensors(heads, rows=rows))
    file = folder / "draft/model.safetensors"
    file.rename(folder / "draft/medusa_lm_head.safetensors")


def medusa(**parameters):
    return {"method": "medusa", "model": "./draft", "tree": TREE, **parameters}


@pytest.mark.parametrize(
    ("backend", "version"), [("reference", None), ("pytorch", "1.2.1")]
)
def test_case_4_an_eagle3_head_is_no_draft_model(folder, backend, version):
    config = eagle3_config(draft_vocab_size=32000)
    write_headers(folder / "draft", config, eagle3_tensors())
    found = blocking(folder, backend, DRAFT_TARGET, version)
    assert any(
        "is an EAGLE-3 head" in text and "method: eagle3" in text for text in found
    )


@pytest.mark.parametrize(
    ("backend", "version"), [("reference", None), ("pytorch", "1.2.1")]
)
def test_case_4_an_eagle1_head_is_no_eagle3_head(folder, backend, version):
    write_headers(folder / "draft", eagle3_config(), eagle_tensors())
    found = blocking(folder, backend, EAGLE3, version)
    assert any(
        "is an EAGLE-1 or EAGLE-2 drafter" in text and "[4096, 8192]" in text
        for text in found
    )


@pytest.mark.parametrize(
    ("backend", "version"), [("reference", None), ("pytorch", "1.2.1")]
)
@pytest.mark.parametrize("drop", ["hidden_norm", "o_proj", "post_attention_layernorm"])
def test_an_eagle3_head_that_lost_a_tensor_is_refused(folder, backend, version, drop):
    tensors = {n: s for n, s in eagle3_tensors().items() if drop not in n}
    write_headers(folder / "draft", eagle3_config(draft_vocab_size=32000), tensors)
    named = {**EAGLE3, "layers_to_capture": [0, 1, -1]}
    found = blocking(folder, backend, named, version)
    assert any(text.startswith("drafter-tensors: ") and drop in text for text in found)


@pytest.mark.parametrize("fused", [2, 3])
def test_a_whole_head_on_a_target_that_it_fits_is_not_refused(folder, fused):
    tensors = eagle3_tensors(states=fused)
    ids = IDS if fused == 2 else {}
    config = eagle3_config(draft_vocab_size=32000, **ids)
    write_headers(folder / "draft", config, tensors)
    layers = [0, 1] if fused == 2 else [0, 1, -1]
    named = {**EAGLE3, "layers_to_capture": layers}
    assert blocking(folder, "reference", named) == []


def test_case_25_three_heads_do_not_carry_a_tree_of_four_levels(folder):
    write_medusa(folder, 3)
    (found,) = blocking(folder, "reference", medusa())
    assert "the tree is 4 levels deep, and the checkpoint has 3 Medusa heads" in found
    with pytest.raises(RecipeError, match="num_heads"):
        loaded(folder, backend="tensorrt", speculation=medusa(num_heads=3))


def test_case_25_a_recipe_that_takes_more_heads_than_there_are_is_refused(folder):
    write_medusa(folder, 3)
    found = blocking(folder, "tensorrt", medusa(num_heads=4), "0.21.0")
    assert any("num_heads 4 is above the 3 heads" in text for text in found)


@pytest.mark.parametrize("heads", [4, 5])
def test_case_25_four_heads_carry_it_within_a_draft_capacity_of_63(folder, heads):
    write_medusa(folder, heads)
    assert blocking(folder, "reference", medusa()) == []
    found = blocking(
        folder, "tensorrt", medusa(num_heads=4, max_draft_tokens=63), "0.21.0"
    )
    assert not [text for text in found if "medusa" in text or "drafter" in text]


def test_case_25_fewer_heads_than_were_trained_take_a_flatter_tree(folder):
    write_medusa(folder, 5)
    assert blocking(folder, "reference", medusa(tree=TREE[:2])) == []
    flat = medusa(tree=TREE[:2], num_heads=2)
    found = blocking(folder, "tensorrt", flat, "0.21.0")
    assert not [text for text in found if "medusa" in text or "drafter" in text]


def test_case_25_an_installation_without_the_engine_lane_refuses_it(folder):
    write_medusa(folder, 4)
    found = blocking(folder, "tensorrt", medusa(num_heads=4), "1.3.0rc27")
    assert any("1.3.0rc27" in text for text in found)


@pytest.mark.parametrize("rows", [32000, 128258])
def test_medusa_heads_of_another_vocabulary_are_told(folder, rows):
    write_medusa(folder, 4, rows=rows)
    found = blocking(folder, "tensorrt", medusa(num_heads=4), "0.21.0")
    assert any(f"{rows} vocabulary rows" in text for text in found)


def test_an_eagle_head_without_its_bias_is_refused_where_that_fails(folder):
    write_headers(folder / "draft", eagle3_config(), eagle_tensors())
    named = {"method": "eagle", "model": "./draft"}
    found = blocking(folder, "tensorrt", named, "0.21.0")
    assert any(text.startswith("eagle-bias: ") for text in found)
    assert blocking(folder, "reference", named) == []
