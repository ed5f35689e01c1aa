"""Heads' tensors are read from all files of a checkpoint, and none is made up."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from trtspec.errors import RunError
from trtspec.reference.heads.stored import fill, read_tensors, tensor_names

WEIGHT, BIAS = torch.arange(6.0).view(2, 3), torch.tensor([1.5, -2.0])


@pytest.fixture
def directory(tmp_path):
    save_file({"head.weight": WEIGHT}, str(tmp_path / "model-1-of-2.safetensors"))
    save_file({"head.bias": BIAS}, str(tmp_path / "model-2-of-2.safetensors"))
    return tmp_path


def test_tensors_of_all_files_are_named(directory):
    assert tensor_names(directory) == {"head.weight", "head.bias"}


def test_only_what_is_wanted_is_read_under_its_new_name(directory):
    read = read_tensors(directory, {"head.bias": "bias", "absent": "absent"})
    assert read.keys() == {"bias"}
    assert torch.equal(read["bias"], BIAS)


def test_tensors_are_cast_to_the_modules_type(tmp_path):
    linear = nn.Linear(3, 2).to(torch.bfloat16)
    fill(linear, {"weight": WEIGHT, "bias": BIAS}, tmp_path)
    assert linear.weight.dtype == torch.bfloat16
    assert torch.equal(linear.weight.float(), WEIGHT)


@pytest.mark.parametrize(
    ("tensors", "said"),
    [
        ({}, "lacks the tensor head.bias and 1 more"),
        ({"weight": WEIGHT}, "lacks the tensor head.bias\n"),
        ({"weight": WEIGHT, "bias": BIAS, "scale": BIAS}, "has also the tensor head.s"),
        ({"weight": WEIGHT.T, "bias": BIAS}, r"head.weight has shape \[3, 2\]"),
    ],
)
def test_what_does_not_fit_is_named_as_in_the_checkpoint(tmp_path, tensors, said):
    with pytest.raises(RunError, match=said) as caught:
        fill(nn.Linear(3, 2), tensors, tmp_path, lambda name: f"head.{name}")
    assert str(tmp_path) in str(caught.value)


class Experts(nn.Module):
    """As transformers 5 keeps them: all in one tensor."""

    def __init__(self):
        super().__init__()
        self.experts = nn.Module()
        self.experts.gate_up_proj = nn.Parameter(torch.zeros(2, 4, 3))
        self.experts.down_proj = nn.Parameter(torch.zeros(2, 3, 2))


def test_experts_stored_one_by_one_are_stacked_gate_above_up(tmp_path):
    outer, tensors = nn.Module(), {}
    outer.mlp = Experts()
    for expert in range(2):
        for part, shape in (("gate", (2, 3)), ("up", (2, 3)), ("down", (3, 2))):
            name = f"mlp.experts.{expert}.{part}_proj.weight"
            tensors[name] = torch.full(
                shape, expert + {"gate": 1, "up": 3, "down": 5}[part]
            )
    fill(outer, {name: tensor.float() for name, tensor in tensors.items()}, tmp_path)
    both, down = outer.mlp.experts.gate_up_proj, outer.mlp.experts.down_proj
    assert both[:, :, 0].tolist() == [[1, 1, 3, 3], [2, 2, 4, 4]]
    assert down[:, 0, 0].tolist() == [5, 6]


def test_expert_with_a_part_missing_is_named(tmp_path):
    outer = nn.Module()
    outer.mlp = Experts()
    tensors = {"mlp.experts.0.gate_proj.weight": torch.zeros(2, 3)}
    with pytest.raises(RunError, match=r"lacks the tensor mlp\.experts\.down_proj"):
        fill(outer, tensors, tmp_path)
