"""EAGLE-3 heads load from every public layout, and from nothing else."""

from __future__ import annotations

import json

import pytest
import torch
from transformers import Qwen3Config

from tests.reference.toy_heads.eagle import (
    READS,
    captured,
    toy_config,
    toy_eagle3_head,
)
from tests.reference.toy_heads.eagle_files import (
    eagle3_config,
    eagle3_tensors,
    write,
    write_eagle3,
    write_speculators,
    write_trtllm,
)
from tests.reference.toy_heads.setup import spread, toy_setup
from tests.reference.toys import toy_model
from trtspec.errors import RunError
from trtspec.methods import Eagle3
from trtspec.reference.drafters import open_drafter
from trtspec.reference.heads.eagle3 import Eagle3Head, load_eagle3
from trtspec.reference.heads.eagle3_layout import Eagle3Layout
from trtspec.reference.heads.eagle_layers import fit_biases

DRAFTED = tuple(range(0, 48, 3))
TOKENS = torch.tensor([[3, 9, 4, 8, 2, 7]])


def answer(head: Eagle3Head) -> torch.Tensor:
    """Logits and states of a plain forward on the target's states, side by side."""
    reads = READS if head.layout.captured == 3 else (1,)
    with torch.inference_mode():
        states = head.fuse(captured(toy_model(), TOKENS, reads))
        output = head(TOKENS, states=states)
    return torch.cat((output.logits, output.states), -1)


def assert_same(directory, head: Eagle3Head) -> Eagle3Head:
    loaded = load_eagle3(directory, toy_setup())
    torch.testing.assert_close(answer(loaded), answer(head), rtol=0, atol=1e-6)
    return loaded


def tailored(**layout) -> Eagle3Head:
    return toy_eagle3_head(fitted=False, **layout)


@pytest.mark.parametrize("name", ["full", "reduced", "narrow", "shared"])
def test_the_layout_of_its_authors_loads(tmp_path, name):
    kinds = {
        "full": {},
        "reduced": {"drafted": DRAFTED},
        "narrow": {"width": 16, "drafted": DRAFTED},
        "shared": {"has_output": False},
    }
    head = tailored(**kinds[name])
    loaded = assert_same(write_eagle3(tmp_path, head), head)
    assert loaded.drafted_ids().tolist() == list(
        DRAFTED if "drafted" in kinds[name] else range(48)
    )


def test_a_head_shares_no_weights_of_the_target_as_its_own(tmp_path):
    head = tailored(has_output=False)
    loaded = load_eagle3(write_eagle3(tmp_path, head), toy_setup())
    own = {id(weight) for weight in loaded.parameters()}
    assert not own & {id(weight) for weight in toy_model().parameters()}


@pytest.mark.parametrize("reading", [(True, False), (True, True)])
def test_several_layers_load_as_tensorrt_llm_names_them(tmp_path, reading):
    head = tailored(drafted=DRAFTED, reading=reading)
    loaded = assert_same(write_trtllm(tmp_path, head), head)
    assert loaded.layout.reading == reading


@pytest.mark.parametrize(
    "variant",
    [
        {},
        {"norm_before_residual": True},
        {"feeds_normed": True},
        {"reading": (True, False)},
    ],
    ids=lambda variant: next(iter(variant), "plain"),
)
def test_the_layout_of_speculators_loads(tmp_path, variant):
    head = tailored(drafted=DRAFTED, has_embedding=True, **variant)
    loaded = assert_same(write_speculators(tmp_path, head), head)
    for part, value in variant.items():
        assert getattr(loaded.layout, part) == value


def test_speculators_leaves_out_what_is_transformers_default(tmp_path):
    head = tailored(drafted=DRAFTED, has_embedding=True)
    write_speculators(tmp_path, head)
    config = json.loads((tmp_path / "config.json").read_text())
    for key in ("vocab_size", "rms_norm_eps", "rope_parameters", "head_dim"):
        del config["transformer_layer_config"][key]
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert_same(tmp_path, head)


@pytest.mark.parametrize("norm", ["whole", "each"])
def test_norms_before_the_fusion_load(tmp_path, norm):
    head = tailored(drafted=DRAFTED, fusion_norm=norm)
    for name, weight in head.named_parameters():
        if name.startswith(("input_norm", "fc_norm")):
            torch.nn.init.uniform_(weight, 0.5, 1.5)
    loaded = assert_same(write_speculators(tmp_path, head), head)
    assert loaded.layout.fusion_norm == norm


def test_weights_that_only_training_needs_are_left_out(tmp_path):
    head = tailored(drafted=DRAFTED)
    aids = {"verifier_norm.weight": torch.ones(32), "verifier_lm_head.weight": TOKENS}
    write(tmp_path, {**eagle3_tensors(head), **aids}, eagle3_config(head))
    assert_same(tmp_path, head)


def test_one_captured_state_needs_no_fusion(tmp_path):
    head = tailored(captured=1, has_fusion=False)
    loaded = assert_same(write_eagle3(tmp_path, head), head)
    states = torch.randn(1, 2, 32)
    assert loaded.fuse(states) is states


def test_one_captured_state_can_be_fused_all_the_same(tmp_path):
    head = tailored(captured=1)
    loaded = assert_same(write_eagle3(tmp_path, head), head)
    assert loaded.layout.captured == 1
    assert loaded.layout.has_fusion


def test_biases_are_there_where_they_are_stored(tmp_path):
    head = tailored(drafted=DRAFTED)
    fit_biases(head, ["fc.bias", "layers.0.self_attn.q_proj.bias"])
    spread(head, 5)
    loaded = assert_same(write_eagle3(tmp_path, head), head)
    assert loaded.layers[0].self_attn.q_proj.bias is not None
    assert loaded.layers[0].self_attn.o_proj.bias is None


def test_norms_of_queries_and_keys_make_a_layer_of_qwen3(tmp_path):
    config = toy_config(kind=Qwen3Config, head_dim=8)
    layout = Eagle3Layout(target_width=32, drafted=48, embedded=48)
    embedding = toy_model().get_input_embeddings()
    head = spread(Eagle3Head(config, layout, embedding=embedding), 3)
    torch.nn.init.uniform_(head.layers[0].self_attn.q_norm.weight, 0.5, 1.5)
    loaded = assert_same(write_eagle3(tmp_path, head), head)
    assert loaded.config.model_type == "qwen3"


def test_a_head_takes_the_targets_type_but_for_its_rotation(tmp_path):
    setup = toy_setup(toy_model().__class__(toy_model().config).to(torch.bfloat16))
    loaded = load_eagle3(write_eagle3(tmp_path, tailored(drafted=DRAFTED)), setup)
    assert {w.dtype for w in loaded.parameters()} == {torch.bfloat16}
    assert loaded.rotary.inv_freq.dtype == torch.float32
    assert loaded.d2t.dtype == torch.int64


def refusal(directory) -> str:
    with pytest.raises(RunError) as caught:
        load_eagle3(directory, toy_setup())
    return str(caught.value)


def test_a_missing_tensor_is_named(tmp_path):
    head = tailored(drafted=DRAFTED)
    tensors = eagle3_tensors(head)
    del tensors["midlayer.mlp.up_proj.weight"]
    write(tmp_path, tensors, eagle3_config(head))
    assert "layers.0.mlp.up_proj.weight" in refusal(tmp_path)


def test_an_unexpected_tensor_is_named(tmp_path):
    head = tailored(drafted=DRAFTED)
    tensors = {**eagle3_tensors(head), "midlayer.gate.weight": torch.ones(2)}
    write(tmp_path, tensors, eagle3_config(head))
    assert "midlayer.gate.weight" in refusal(tmp_path)


def test_a_tensor_of_another_shape_is_named_with_both_shapes(tmp_path):
    head = tailored(drafted=DRAFTED)
    tensors = {**eagle3_tensors(head), "midlayer.mlp.up_proj.weight": torch.ones(5, 32)}
    write(tmp_path, tensors, eagle3_config(head))
    message = refusal(tmp_path)
    assert "midlayer.mlp.up_proj.weight" in message
    assert "[5, 32]" in message
    assert "[64, 32]" in message


def test_another_targets_width_is_refused(tmp_path):
    head = tailored(drafted=DRAFTED)
    tensors = {**eagle3_tensors(head), "fc.weight": torch.ones(32, 3 * 20)}
    write(tmp_path, tensors, eagle3_config(head))
    message = refusal(tmp_path)
    assert "60" in message
    assert "32" in message


def test_a_narrow_head_must_bring_what_it_cannot_share(tmp_path):
    head = tailored(width=16, drafted=DRAFTED)
    tensors = eagle3_tensors(head)
    del tensors["embed_tokens.weight"]
    write(tmp_path, tensors, eagle3_config(head))
    assert "embed_tokens.weight" in refusal(tmp_path)


def test_tokens_that_the_target_does_not_have_are_refused(tmp_path):
    head = tailored(drafted=DRAFTED)
    head.d2t[-1] = 40
    assert "55" in refusal(write_eagle3(tmp_path, head))


def test_a_projection_before_the_attention_is_not_known(tmp_path):
    head = tailored(drafted=DRAFTED)
    write_eagle3(tmp_path, head, eagle_config={"eh_proj_before_attn": True})
    assert "before its attention" in refusal(tmp_path)


def test_a_head_without_a_layer_is_refused(tmp_path):
    head = tailored(drafted=DRAFTED)
    tensors = eagle3_tensors(head)
    kept = {n: t for n, t in tensors.items() if not n.startswith("midlayer")}
    write(tmp_path, kept, eagle3_config(head))
    assert "no decoder layer" in refusal(tmp_path)


def test_a_table_that_names_a_token_twice_is_refused(tmp_path):
    head = tailored(drafted=DRAFTED)
    head.d2t[-1] -= 3
    assert "1 tokens twice" in refusal(write_eagle3(tmp_path, head))


def test_values_that_are_not_finite_are_refused(tmp_path):
    head = tailored(drafted=DRAFTED)
    head.norm.weight.data[3] = torch.nan
    assert "norm.weight holds values that are not finite" in refusal(
        write_eagle3(tmp_path, head)
    )


def test_a_configuration_that_makes_no_sense_is_no_traceback(tmp_path):
    config = {"rope_scaling": {"rope_type": "none of them", "factor": 2.0}}
    write_eagle3(tmp_path, tailored(drafted=DRAFTED), **config)
    method = Eagle3(method="eagle3", model="./draft", draft_length=2)
    with pytest.raises(RunError, match="cannot be opened") as caught:
        open_drafter(method, tmp_path, toy_setup())
    assert caught.value.problems[0].where.startswith(str(tmp_path))
