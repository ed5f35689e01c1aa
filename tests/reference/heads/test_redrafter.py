"""ReDrafter's head: the public names load, and the recurrence is the paper's."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors.torch import save_file
from torch.nn.functional import linear, silu

from tests.reference.toy_heads.redrafter import redrafter_head
from tests.reference.toys import toy_model
from trtspec.errors import RunError
from trtspec.reference.heads.redrafter import ReDrafterHead, load_redrafter

TARGET = toy_model()
GENERATOR = torch.Generator().manual_seed(1)
CONTEXT = torch.randn(5, 32, generator=GENERATOR)
EMBEDDED = torch.randn(2, 5, 32, generator=GENERATOR)


def save(directory, tensors, config=None):
    save_file(tensors, directory / "model.safetensors")
    (directory / "config.json").write_text(json.dumps(config or {}))


def load(directory, hidden_size=32, dtype=torch.float32) -> ReDrafterHead:
    cpu = torch.device("cpu")
    return load_redrafter(directory, hidden_size=hidden_size, dtype=dtype, device=cpu)


def published(tensors, names):
    """Rename as ``examples/redrafter/convert_checkpoint.py`` lists it."""
    return {
        next(
            (new + name[len(old) :] for old, new in names if name.startswith(old)), name
        ): tensor
        for name, tensor in tensors.items()
    }


def computed(tensors, layers):
    """Logits [n, vocabulary] after two tokens, from the published tensors."""
    state = torch.zeros_like(CONTEXT)
    for embedded in EMBEDDED:
        if "rnn_u.weight" in tensors:
            recurrent = linear(state, tensors["rnn_u.weight"], tensors["rnn_u.bias"])
            state = silu(linear(embedded, tensors["rnn_w.weight"]) + recurrent)
        else:
            state = state + embedded
    hidden = torch.cat((CONTEXT, state), 1)
    if "input_proj.weight" in tensors:
        weight, bias = tensors["input_proj.weight"], tensors["input_proj.bias"]
        hidden = linear(hidden, weight, bias)
    for layer in range(layers):
        name = f"lm_head.{layer}.linear"
        weight, bias = tensors[f"{name}.weight"], tensors[f"{name}.bias"]
        hidden = hidden + silu(linear(hidden, weight, bias))
    return linear(hidden, tensors[f"lm_head.{layers}.weight"])


def after_two_tokens(head):
    state = torch.zeros_like(CONTEXT)
    for embedded in EMBEDDED:
        state = head.advance(state, embedded)
    return head(CONTEXT, state)


@pytest.mark.parametrize("width", [64, 24])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("recurrent", [True, False])
@torch.inference_mode()
def test_a_head_computes_two_steps_of_the_recurrence(
    tmp_path, width, layers, recurrent
):
    tensors = redrafter_head(TARGET, width, layers, recurrent).state_dict()
    save(tmp_path, tensors, {"rnn": recurrent})
    expected = computed(tensors, layers)
    torch.testing.assert_close(after_two_tokens(load(tmp_path)), expected)


NAMES = {
    "lm_head": (True, 24, []),
    "lm_heads": (
        False,
        24,
        [("lm_head.", "lm_heads."), ("input_proj.", "input_projs.")],
    ),
    "0": (False, 64, [("lm_head.", "0.")]),
}


@pytest.mark.parametrize("names", NAMES)
@pytest.mark.parametrize("told", [True, False])
@torch.inference_mode()
def test_each_public_way_to_name_the_tensors_loads(tmp_path, names, told):
    """``told``: config.json says whether there are recurrent weights."""
    recurrent, width, changes = NAMES[names]
    tensors = redrafter_head(TARGET, width, 2, recurrent).state_dict()
    config = {"rnn": recurrent} if told else {}
    save(tmp_path, published(tensors, changes), config)
    torch.testing.assert_close(after_two_tokens(load(tmp_path)), computed(tensors, 2))


def test_the_norm_that_no_forward_uses_is_left_alone(tmp_path):
    tensors = redrafter_head(TARGET).state_dict()
    save(tmp_path, {**tensors, "emb_norm.weight": torch.ones(32)})
    assert "emb_norm.weight" not in load(tmp_path).state_dict()


def test_weights_get_the_targets_type(tmp_path):
    save(tmp_path, redrafter_head(TARGET).state_dict())
    head = load(tmp_path, dtype=torch.bfloat16)
    assert {p.dtype for p in head.parameters()} == {torch.bfloat16}


@pytest.mark.parametrize("lacking", ["rnn_w.weight", "rnn_u.bias", "input_proj.bias"])
def test_a_missing_tensor_is_named(tmp_path, lacking):
    tensors = redrafter_head(TARGET, width=24).state_dict()
    del tensors[lacking]
    save(tmp_path, tensors, {"rnn": True})
    with pytest.raises(RunError, match=f"lacks the tensor {lacking}"):
        load(tmp_path)


def test_a_tensor_is_named_as_the_checkpoint_names_it(tmp_path):
    tensors = redrafter_head(TARGET, 64, 1, recurrent=False).state_dict()
    tensors["lm_head.0.linear.bias"] = torch.zeros(63)
    save(tmp_path, published(tensors, [("lm_head.", "0.")]))
    with pytest.raises(RunError, match=r": 0\.0\.linear\.bias has shape \[63\]"):
        load(tmp_path)


def test_recurrent_weights_that_the_configuration_denies_are_named(tmp_path):
    save(tmp_path, redrafter_head(TARGET).state_dict(), {"rnn": False})
    with pytest.raises(RunError, match=r"has also the tensor rnn_u\.bias and 2 more"):
        load(tmp_path)


def test_a_checkpoint_without_the_last_matrix_is_no_head(tmp_path):
    tensors = redrafter_head(TARGET).state_dict()
    del tensors["lm_head.1.weight"]
    save(tmp_path, tensors)
    with pytest.raises(RunError, match=r"lacks a matrix lm_head\.1\.weight"):
        load(tmp_path)


@pytest.mark.parametrize(
    ("width", "named"),
    [
        (24, r"input_proj\.weight has shape \[24, 64\]"),
        (64, "the ReDrafter head is 64 wide"),
    ],
)
def test_a_head_of_another_target_is_refused(tmp_path, width, named):
    save(tmp_path, redrafter_head(TARGET, width).state_dict())
    with pytest.raises(RunError, match=named) as caught:
        load(tmp_path, hidden_size=48)
    assert "96" in str(caught.value)
