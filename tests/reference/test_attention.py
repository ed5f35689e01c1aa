"""Grouped attention gives what transformers gives when it repeats keys and values."""

from __future__ import annotations

import pytest
import torch

from tests.reference.toys import SHAPES, full_logits, make_toy
from trtspec.reference.attention import (
    NAME,
    PLAIN,
    grouped_attention,
    plain_attention,
    use_grouped_attention,
)
from trtspec.reference.probe import require_faithful
from trtspec.reference.slots import Row, SlotModel

GROUPED = [family for family, shape in SHAPES.items() if "num_key_value_heads" in shape]


@pytest.mark.parametrize("family", GROUPED)
def test_grouped_queries_give_the_logits_of_separate_forwards(family):
    model = make_toy(family, **SHAPES[family])
    use_grouped_attention(model)
    assert model.config._attn_implementation == NAME
    slots = SlotModel(model, 3, 64, 8)
    texts = [[3, 9, 4, 11, 7, 30, 2, 8], [5], [6, 2, 40, 9]]
    logits = slots.forward(0, [Row(text) for text in texts], last_only=True)
    for row, text in enumerate(texts):
        expected = full_logits(text, family)[-1]
        torch.testing.assert_close(logits[row], expected, atol=2e-4, rtol=1e-4)
    for slot in range(3):
        slots.clear(slot)
    require_faithful(slots, model)


def test_a_model_that_attends_in_its_own_way_is_left_alone():
    model = make_toy("llama", **SHAPES["llama"])
    model.set_attn_implementation("eager")
    use_grouped_attention(model)
    assert model.config._attn_implementation == "eager"


@pytest.mark.parametrize("key_heads", [1, 2, 4])
@pytest.mark.parametrize("with_mask", [True, False])
def test_any_number_of_key_heads_with_and_without_mask(key_heads, with_mask):
    generator = torch.Generator().manual_seed(key_heads)
    query = torch.randn(2, 4, 3, 8, generator=generator)
    key, value = torch.randn(2, 2, key_heads, 3, 8, generator=generator)
    module = torch.nn.Module()
    module.num_key_value_groups = 4 // key_heads
    module.is_causal = True
    hidden = torch.ones(3, 3).triu(1).bool()
    mask = torch.zeros(2, 1, 3, 3).masked_fill(hidden, -1e30) if with_mask else None
    got, _ = grouped_attention(module, query, key, value, mask, scaling=0.3)
    repeated = [part.repeat_interleave(4 // key_heads, 1) for part in (key, value)]
    scores = (query @ repeated[0].mT * 0.3).masked_fill(hidden, -torch.inf)
    expected = (scores.softmax(-1) @ repeated[1]).transpose(1, 2)
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("setting", ["softcap", "position_bias"])
def test_nothing_that_changes_the_result_is_dropped(setting):
    module = torch.nn.Module()
    module.num_key_value_groups = 2
    query, key = torch.randn(1, 4, 3, 8), torch.randn(1, 2, 3, 8)
    mask = torch.zeros(1, 1, 3, 3)
    value = 1.0 if setting == "softcap" else torch.randn(1, 4, 3, 3)
    plain, _ = grouped_attention(module, query, key, key, mask)
    try:
        other, _ = grouped_attention(module, query, key, key, mask, **{setting: value})
    except ValueError:
        return  # as transformers' own does
    assert not torch.allclose(plain, other)


def test_a_probe_compares_with_the_attention_of_transformers():
    model = make_toy("llama", **SHAPES["llama"])
    use_grouped_attention(model)
    with plain_attention(model):
        assert model.config._attn_implementation == PLAIN
    assert model.config._attn_implementation == NAME
    other = make_toy("llama", **SHAPES["llama"])
    with plain_attention(other):
        pass
    assert other.config._attn_implementation == PLAIN
