"""What heads share of the target is what the target itself makes of it."""

from __future__ import annotations

import pytest
import torch

from tests.reference.toy_heads.setup import toy_setup
from tests.reference.toys import make_toy
from trtspec.reference.capture import FINAL, Capture
from trtspec.reference.drafters.dflash import Scales
from trtspec.reference.drafters.setup import scaled_logits
from trtspec.reference.heads.base import cast_weights

TOKENS = torch.tensor([[3, 9, 4]])
KEY_HEADS = {"num_key_value_heads": 2}


@pytest.mark.parametrize(
    ("family", "shape"),
    [
        ("llama", {}),
        ("granite", {"logits_scaling": 8.0}),
        ("cohere", {"logit_scale": 0.5}),
        ("gemma2", {"final_logit_softcapping": 3.0, "head_dim": 8}),
    ],
)
def test_shared_logits_are_those_of_the_model(family, shape):
    model = make_toy(family, **KEY_HEADS, **shape)
    with torch.inference_mode(), Capture(model, [FINAL]) as captured:
        expected = model(TOKENS, use_cache=False).logits
        product = model.get_output_embeddings()(captured.states())
    got = scaled_logits(product, model.config)
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)


def test_rows_of_the_embedding_are_not_scaled():
    model = make_toy("gemma3_text", **KEY_HEADS, head_dim=8)
    setup = toy_setup(model)
    rows = model.get_input_embeddings().weight[TOKENS]
    torch.testing.assert_close(setup.stored_embedding(TOKENS), rows)
    ratio = (setup.embedding(TOKENS) / rows).detach()
    assert float(ratio.mean()) == pytest.approx(32**0.5, rel=1e-2)


def test_scales_of_dflash_come_from_its_own_section_first():
    assert Scales.of({}) == Scales(1.0, 1.0, None)
    config = {
        "input_embedding_scale": 9.0,
        "output_multiplier": 0.5,
        "dflash_config": {"input_embedding_scale": 2.0, "final_logit_softcapping": 1.0},
    }
    scales = Scales.of(config)
    assert scales == Scales(2.0, 0.5, 1.0)
    logits = scales.logits(torch.tensor([0.2, 50.0]))
    torch.testing.assert_close(logits, torch.tensor([0.1, 25.0]).tanh())


def test_frequencies_of_a_rounded_head_stay_as_they_are():
    """Rounded to bfloat16 they would be off by radians after a thousand tokens."""
    model = make_toy("llama", **KEY_HEADS, head_dim=8)
    head = cast_weights(model.model, torch.bfloat16, torch.device("cpu"))
    assert head.rotary_emb.inv_freq.dtype == torch.float32
    assert next(head.parameters()).dtype == torch.bfloat16
