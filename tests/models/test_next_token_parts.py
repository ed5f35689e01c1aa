"""Next-token heads are held against the target's own layers."""

import pytest

from tests.models.drafters import layer_shapes, mtp_shapes
from tests.models.tiny import shapes
from trtspec.models.next_token_parts import next_token_parts
from trtspec.models.parts import WHOLE

LAYOUTS = ("deepseek", "qwen", "mimo")
PROJECTIONS = {
    "deepseek": "model.layers.2.eh_proj",
    "qwen": "mtp.fc",
    "mimo": "model.mtp_layers.0.input_proj",
}


def with_heads(layout, **arguments):
    return {**shapes(), **mtp_shapes(layout, **arguments)}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("heads", [1, 3])
def test_whole_heads_are_whole_with_their_target_and_alone(layout, heads):
    assert next_token_parts(with_heads(layout, heads=heads)) == WHOLE
    assert next_token_parts(mtp_shapes(layout, heads)) == WHOLE


@pytest.mark.parametrize("layout", LAYOUTS)
def test_each_module_that_is_lost_is_missed(layout):
    whole = with_heads(layout)
    lost = [n for n in mtp_shapes(layout) if not n.startswith(PROJECTIONS[layout])]
    assert len(lost) > 9
    for name in lost:
        found = next_token_parts(set(whole) - {name})
        assert found.missing == (name.removesuffix(".weight"),)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_module_that_no_layer_of_the_target_has_is_left_over(layout):
    name = next(n for n in mtp_shapes(layout) if n.endswith("mlp.up_proj.weight"))
    odd = name.replace("up_proj", "w3")
    found = next_token_parts((set(with_heads(layout)) - {name}) | {odd})
    assert found.left_over == (odd.removesuffix(".weight"),)
    assert found.missing == (name.removesuffix(".weight"),)


def test_copies_of_embedding_and_lm_head_are_parts():
    copies = {
        "model.layers.2.embed_tokens.weight",
        "model.layers.2.shared_head.head.weight",
    }
    assert next_token_parts(set(with_heads("deepseek")) | copies) == WHOLE


def test_scales_of_quantized_layers_do_not_make_other_modules():
    scales = {
        name.replace("weight", "weight_scale_inv")
        for name in shapes()
        if "_proj" in name
    }
    assert next_token_parts(set(with_heads("deepseek")) | scales) == WHOLE


def test_scales_of_a_quantized_cache_are_no_part_of_a_head():
    scales = {f"model.layers.{n}.self_attn.k_scale" for n in range(2)}
    assert next_token_parts(set(with_heads("deepseek")) | scales) == WHOLE


def test_of_layers_with_and_without_experts_the_likest_counts():
    def experts(prefix):
        dense = layer_shapes(prefix)
        kept = {n for n in dense if ".mlp." not in n}
        return kept | {f"{prefix}mlp.experts.{n}.up_proj.weight" for n in range(4)}

    target = {*layer_shapes("model.layers.0."), *experts("model.layers.1.")}
    heads = {n for n in mtp_shapes() if ".mlp." not in n}
    heads |= {f"model.layers.2.mlp.experts.{n}.up_proj.weight" for n in range(4)}
    assert next_token_parts(target | heads) == WHOLE
    lost = "model.layers.2.mlp.experts.3.up_proj"
    found = next_token_parts((target | heads) - {f"{lost}.weight"})
    assert found.missing == (lost,)


def test_a_model_without_heads_lacks_none():
    assert next_token_parts(set(shapes())) == WHOLE
