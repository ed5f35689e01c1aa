"""Medusa heads: every public layout loads, and computes what the paper says."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors.torch import save_file
from torch.nn.functional import linear, silu

from tests.reference.toy_heads.medusa import medusa_heads
from tests.reference.toys import toy_model
from trtspec.errors import RunError
from trtspec.reference.heads.medusa import MedusaHeads, load_medusa

TARGET = toy_model()
LM_HEAD = TARGET.get_output_embeddings()
STATES = torch.randn(5, 32, generator=torch.Generator().manual_seed(1))


def save(directory, tensors, config=None):
    save_file(tensors, directory / "medusa_lm_head.safetensors")
    (directory / "config.json").write_text(json.dumps(config or {}))


def load(directory, **options) -> MedusaHeads:
    sizes = {"hidden_size": 32, "dtype": torch.float32, "device": torch.device("cpu")}
    return load_medusa(directory, lm_head=LM_HEAD, **{**sizes, **options})


def computed(tensors, heads, layers, own):
    """Logits [n, heads, vocabulary] straight from the published tensors."""
    logits = []
    for head in range(heads):
        hidden = STATES
        for layer in range(layers):
            name = f"{head}.{layer}.linear"
            weight, bias = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
            hidden = hidden + silu(linear(hidden, weight, bias))
        output = tensors[f"{head}.{layers}.weight"] if own else LM_HEAD.weight
        logits.append(linear(hidden, output))
    return torch.stack(logits, 1)


@pytest.mark.parametrize("prefix", ["", "medusa_head."])
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("layers", [1, 2])
@torch.inference_mode()
def test_a_public_layout_loads_and_computes_its_logits(tmp_path, prefix, own, layers):
    tensors = medusa_heads(TARGET, 3, layers, own).state_dict()
    save(tmp_path, {prefix + name: tensor for name, tensor in tensors.items()})
    heads = load(tmp_path)
    expected = computed(tensors, 3, layers, own)
    torch.testing.assert_close(heads(STATES), expected)
    torch.testing.assert_close(heads(STATES, 2), expected[:, :2])


@torch.inference_mode()
def test_states_may_have_any_shape_in_front():
    heads = medusa_heads(TARGET, 2)
    logits = heads(STATES.reshape(1, 5, 32))
    assert logits.shape == (1, 5, 2, 48)
    torch.testing.assert_close(logits[0], heads(STATES))


def test_names_are_those_that_medusas_authors_write():
    assert sorted(medusa_heads(TARGET, 2, 1).state_dict()) == [
        "0.0.linear.bias",
        "0.0.linear.weight",
        "0.1.weight",
        "1.0.linear.bias",
        "1.0.linear.weight",
        "1.1.weight",
    ]


@pytest.mark.parametrize("config", [{}, {"medusa_num_heads": 2}])
def test_the_tensors_say_how_many_heads_there_are(tmp_path, config):
    save(tmp_path, medusa_heads(TARGET, 5).state_dict(), config)
    assert len(load(tmp_path)) == 5


@torch.inference_mode()
def test_heads_that_are_not_needed_are_left_out(tmp_path):
    tensors = medusa_heads(TARGET, 5).state_dict()
    save(tmp_path, tensors)
    heads = load(tmp_path, most=2)
    assert len(heads) == 2
    torch.testing.assert_close(heads(STATES), computed(tensors, 2, 1, own=True))


def test_tensors_of_the_model_trained_with_the_heads_are_left_alone(tmp_path):
    heads = medusa_heads(TARGET, 2)
    named = {f"medusa_head.{name}": t for name, t in heads.state_dict().items()}
    save(tmp_path, {**named, "model.norm.weight": torch.ones(32)})
    assert len(load(tmp_path)) == 2


@torch.inference_mode()
def test_a_shared_lm_head_serves_all_heads_in_one_product():
    calls = []

    def watched(states):
        calls.append(states.shape)
        return LM_HEAD(states)

    heads = MedusaHeads(3, 1, 32, lm_head=watched)
    assert heads(STATES).shape == (5, 3, 48)
    assert calls == [(5, 3, 32)]


def test_a_shared_lm_head_is_no_part_of_the_heads():
    heads = MedusaHeads(1, 1, 32, lm_head=LM_HEAD)
    assert sorted(heads.state_dict()) == ["0.0.linear.bias", "0.0.linear.weight"]


@torch.inference_mode()
def test_an_untrained_head_says_what_the_target_says():
    heads = MedusaHeads(2, 3, 32, lm_head=LM_HEAD)
    expected = LM_HEAD(STATES)[:, None].expand(-1, 2, -1)
    torch.testing.assert_close(heads(STATES), expected)


def test_weights_get_the_targets_type(tmp_path):
    save(tmp_path, medusa_heads(TARGET).state_dict())
    heads = load(tmp_path, dtype=torch.bfloat16)
    assert {p.dtype for p in heads.parameters()} == {torch.bfloat16}


def without(name):
    return lambda tensors: tensors.pop(name)


def renamed(old, new):
    return lambda tensors: tensors.update({new: tensors.pop(old)})


def cut(name):
    return lambda tensors: tensors.update({name: tensors[name][:-1].clone()})


@pytest.mark.parametrize(
    ("damage", "named"),
    [
        (without("1.0.linear.bias"), "lacks the tensor 1.0.linear.bias"),
        (without("1.1.weight"), "lacks the tensor 1.1.weight"),
        (renamed("1.1.weight", "1.2.weight"), "lacks the tensor 1.1.weight"),
        (renamed("0.1.weight", "0.1.bias"), "lacks the tensor 0.1.weight"),
        (renamed("0.1.weight", "fc.weight"), "fc.weight is no tensor of Medusa heads"),
        (cut("1.1.weight"), r"1.1.weight has shape \[47, 32\]"),
        (cut("0.0.linear.weight"), r"0.0.linear.weight has shape \[31, 32\]"),
    ],
)
def test_a_damaged_checkpoint_is_named_tensor_by_tensor(tmp_path, damage, named):
    tensors = medusa_heads(TARGET, 2).state_dict()
    damage(tensors)
    save(tmp_path, tensors)
    with pytest.raises(RunError, match=named):
        load(tmp_path)


def test_a_tensor_too_many_is_named(tmp_path):
    tensors = medusa_heads(TARGET, 2).state_dict()
    save(tmp_path, {**tensors, "0.1.bias": torch.zeros(48)})
    with pytest.raises(RunError, match=r"has also the tensor 0\.1\.bias"):
        load(tmp_path)


def test_heads_of_a_wider_target_are_refused(tmp_path):
    save(tmp_path, medusa_heads(TARGET, 1).state_dict())
    with pytest.raises(RunError, match=r"0\.0\.linear\.weight has shape") as caught:
        load(tmp_path, hidden_size=64)
    assert "[64, 64]" in str(caught.value)


def test_an_empty_checkpoint_has_no_heads(tmp_path):
    save(tmp_path, {})
    with pytest.raises(RunError, match="there are no Medusa heads"):
        load(tmp_path)
