"""Packed weights compute what plain ones do, or are not used."""

from __future__ import annotations

import copy
import gc
import weakref

import pytest
import torch
from torch import nn

from tests.reference.toys import SHAPES, toy_model
from trtspec.reference import packing
from trtspec.reference.packing import PackedLinear, can_pack, pack_linears

needs_onednn = pytest.mark.skipif(
    not torch.backends.mkldnn.is_available(), reason="torch was built without oneDNN"
)
TOKENS = torch.tensor([[3, 9, 4, 30, 2]])


def fresh(family="llama", dtype=torch.float32):
    return copy.deepcopy(toy_model(family)).to(dtype)


@torch.inference_mode()
def logits(model):
    return model(TOKENS, use_cache=False).logits.float()


def packed_layers(model):
    return [m for m in model.modules() if isinstance(m, PackedLinear)]


@needs_onednn
@pytest.mark.parametrize("family", SHAPES)
def test_packed_model_gives_the_same_logits(family):
    model = fresh(family)
    expected = logits(model)
    assert pack_linears(model)
    assert packed_layers(model)
    torch.testing.assert_close(logits(model), expected, atol=1e-4, rtol=1e-4)


@needs_onednn
@pytest.mark.parametrize("rows", [1, 2, 7, 64, 65, 200])
@pytest.mark.parametrize("bias", [False, True])
def test_layer_agrees_for_any_number_of_rows(rows, bias):
    torch.manual_seed(0)
    linear = nn.Linear(40, 24, bias=bias)
    states = torch.randn(2, rows, 40)
    with torch.no_grad():
        packed = PackedLinear(linear)
        torch.testing.assert_close(packed(states), linear(states), atol=1e-5, rtol=1e-5)


@needs_onednn
def test_tied_weights_stay_right():
    model = fresh()
    model.lm_head.weight = model.model.embed_tokens.weight
    expected = logits(model)
    assert pack_linears(model)
    torch.testing.assert_close(logits(model), expected, atol=1e-4, rtol=1e-4)


def test_subclasses_of_linear_are_left_alone():
    class Special(nn.Linear):
        pass

    model = fresh()
    model.model.layers[0].mlp.up_proj = Special(32, 64, bias=False)
    pack_linears(model)
    assert type(model.model.layers[0].mlp.up_proj) is Special


def broken(message):
    def forward(self, states):
        raise RuntimeError(message)

    return forward


@needs_onednn
def test_without_the_operator_nothing_is_packed(monkeypatch):
    monkeypatch.setattr(PackedLinear, "forward", broken("no such operator"))
    assert not pack_linears(fresh())


@needs_onednn
def test_an_operator_that_computes_something_else_is_not_used(monkeypatch):
    forward = PackedLinear.forward
    monkeypatch.setattr(
        PackedLinear, "forward", lambda self, states: forward(self, states) * 1.1
    )
    assert not pack_linears(fresh())


@needs_onednn
def test_no_layer_is_held_twice():
    model = fresh()
    linear = model.model.layers[0].mlp.up_proj
    gone = weakref.ref(linear.weight)
    del linear
    assert pack_linears(model)
    gc.collect()
    assert gone() is None


@needs_onednn
def test_a_model_that_looks_at_a_weight_cannot_be_packed():
    """Some models read ``linear.weight`` in their forward; a packed layer has none."""
    model = fresh()
    mlp = model.model.layers[0].mlp
    plain = type(mlp).forward
    mlp.forward = lambda states: plain(mlp, states.to(mlp.up_proj.weight.dtype))
    assert not pack_linears(model)


def test_only_types_with_a_tolerance_can_be_packed():
    assert not can_pack(fresh(dtype=torch.float16))
    assert can_pack(fresh()) == torch.backends.mkldnn.is_available()
    assert set(packing.TOLERANCE) == {torch.float32, torch.bfloat16}
