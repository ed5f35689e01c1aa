"""Captured hidden states are those that transformers itself gives."""

from __future__ import annotations

import pytest
import torch

from tests.reference.toys import SHAPES, toy_model, toy_slots
from trtspec.errors import RunError
from trtspec.reference.capture import FINAL, Capture
from trtspec.reference.slots import Row

TEXTS = [[3, 9, 4, 11, 7, 30], [6, 2, 40]]


def states_by_transformers(family: str, text: list[int]) -> tuple[torch.Tensor, ...]:
    with torch.inference_mode():
        output = toy_model(family)(
            torch.tensor([text]), use_cache=False, output_hidden_states=True
        )
    return output.hidden_states


@pytest.mark.parametrize("family", SHAPES)
def test_states_of_a_layer_and_of_the_end_stand_side_by_side(family):
    slots = toy_slots(family)
    slots.capture((FINAL, 0))
    states = slots.run(0, [Row(text) for text in TEXTS], last_only=True).states
    for row, text in enumerate(TEXTS):
        _, first, final = states_by_transformers(family, text)
        expected = torch.cat([final[0], first[0]], -1)
        torch.testing.assert_close(
            states[row, : len(text)], expected, atol=2e-4, rtol=1e-4
        )


def test_nothing_is_captured_unless_asked_for():
    slots = toy_slots()
    assert slots.run(0, [Row((3, 4))], last_only=True).states is None
    slots.capture((0,))
    assert slots.run(0, [Row((3, 4))], last_only=True, capture=False).states is None
    assert slots.run(0, [Row((3, 4))], last_only=True).states is not None
    slots.capture(())
    assert slots.run(0, [Row((3, 4))], last_only=True).states is None


def test_forwards_of_others_leave_no_trace():
    slots = toy_slots()
    slots.capture((1,))
    got = slots.run(0, [Row((3, 4))], last_only=True).states
    with torch.inference_mode():
        slots.model(torch.tensor([[5, 6, 7]]), use_cache=False)
    again = slots.run(1, [Row((3, 4))], last_only=True).states
    torch.testing.assert_close(got, again)


@pytest.mark.parametrize("layer", [2, -2])
def test_a_layer_that_is_not_there_is_refused(layer):
    with pytest.raises(RunError, match="layers 0 to 1"):
        Capture(toy_model(), [layer])
