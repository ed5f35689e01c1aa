"""The DFlash head: its attention, and the checkpoints it is loaded from."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import DynamicCache

from tests.reference.toy_heads.dflash import MASK, SIZE, toy_head, write_head
from tests.reference.toys import toy_model
from trtspec.errors import RunError
from trtspec.reference.heads.dflash import load_dflash
from trtspec.reference.slots import Row, SlotModel

STATES = torch.randn(2, 9, 64, generator=torch.Generator().manual_seed(5))
BLOCK = [5, *[MASK] * (SIZE - 1)]


@torch.inference_mode()
def forward(head, states, block=BLOCK):
    """Logits [block, vocabulary] of a block behind n states [n, width]."""
    cache = DynamicCache()
    head(torch.zeros(1, len(states)).long(), states=states[None], past_key_values=cache)
    positions = torch.arange(len(states), len(states) + len(block))[None]
    ids = torch.tensor([block])
    return head(ids, position_ids=positions, past_key_values=cache).logits[0]


def test_head_in_slots_equals_one_plain_forward():
    head = toy_head(toy_model())
    slots = SlotModel(head, 2, 64, 8)
    for part in (slice(0, 5), slice(5, 9)):
        rows = [
            Row([0] * len(s[part]), states=s[part]) for s in (STATES[0, :7], STATES[1])
        ]
        slots.run(0, rows, last_only=True)
        for slot, row in enumerate(rows):
            slots.keep(slot, range(len(row.tokens)))
    logits = slots.forward(0, [Row(BLOCK), Row(BLOCK)], last_only=False)
    for slot, states in enumerate((STATES[0, :7], STATES[1])):
        expected = forward(head, states)
        torch.testing.assert_close(logits[slot], expected, atol=1e-4, rtol=0)


def test_a_blocks_first_tokens_see_its_last():
    head = toy_head(toy_model())
    other = [*BLOCK[:-1], 7]
    assert not torch.allclose(
        forward(head, STATES[0])[0], forward(head, STATES[0], other)[0]
    )


def test_states_of_text_do_not_depend_on_each_other():
    """Each is projected by itself: in whatever order they came, with positions kept."""
    head = toy_head(toy_model())
    whole, parts = DynamicCache(), DynamicCache()
    ids = torch.zeros(1, 9).long()
    with torch.inference_mode():
        head(ids, states=STATES[:1], past_key_values=whole)
        for place in range(9):
            states = STATES[:1, place : place + 1]
            position = torch.tensor([[place]])
            head(
                ids[:, :1], position_ids=position, states=states, past_key_values=parts
            )
    for one, other in zip(whole.layers, parts.layers, strict=True):
        torch.testing.assert_close(one.keys, other.keys)
        torch.testing.assert_close(one.values, other.values)


def loaded(directory, states: int = 2):
    target = toy_model()
    parts = (target.get_input_embeddings(), target.get_output_embeddings())
    return load_dflash(directory, states, *parts)


@pytest.mark.parametrize("prefix", ["", "model."])
def test_published_names_are_read(tmp_path, prefix):
    head = toy_head(toy_model())
    write_head(tmp_path, head)
    path = str(tmp_path / "model.safetensors")
    save_file({_prefixed(n, prefix): t for n, t in load_file(path).items()}, path)
    weights = loaded(tmp_path).state_dict()
    for name, tensor in head.state_dict().items():
        torch.testing.assert_close(weights[name], tensor)


def _prefixed(name: str, prefix: str) -> str:
    return prefix + name if name.startswith("layers.") else name


def test_missing_tensor_is_named(tmp_path):
    write_head(tmp_path, toy_head(toy_model()))
    path = str(tmp_path / "model.safetensors")
    tensors = load_file(path)
    del tensors["layers.1.self_attn.q_norm.weight"]
    save_file(tensors, path)
    with pytest.raises(
        RunError, match=r"lacks the tensor layers\.1\.self_attn\.q_norm"
    ):
        loaded(tmp_path)


def test_unexpected_tensor_is_named(tmp_path):
    write_head(tmp_path, toy_head(toy_model()))
    path = str(tmp_path / "model.safetensors")
    save_file({**load_file(path), "t2d": torch.ones(3)}, path)
    with pytest.raises(RunError, match="has also the tensor t2d"):
        loaded(tmp_path)


def test_projection_of_another_number_of_layers_is_refused(tmp_path):
    write_head(tmp_path, toy_head(toy_model()))
    with pytest.raises(RunError, match=r"fc\.weight has shape \[32, 64\]"):
        loaded(tmp_path, states=3)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"model_type": "llama"}, "model_type is 'llama'"),
        ({"layer_types": ["full_attention", "sliding_attention"]}, "sliding window"),
    ],
)
def test_what_is_not_settled_is_refused(tmp_path, config, said):
    write_head(tmp_path, toy_head(toy_model()), **config)
    with pytest.raises(RunError, match=said):
        loaded(tmp_path)
