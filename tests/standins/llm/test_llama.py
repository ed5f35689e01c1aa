"""Whether the NumPy Llama computes what transformers computes, text by text."""

import json

import numpy as np
import pytest
import torch

from tests.models.tiny import write_checkpoint
from tests.reference.toys import make_toy
from tests.standins.engines import toy
from tests.standins.llm.llama import Llama
from tests.trtllm.pytorch.launch.counting import write_counting_model
from trtspec.reference.hf import load_causal_lm

TEXT = [3, 9, 4, 4, 11, 2, 0, 15]
LONG = [token % 16 for token in range(3, 200, 7)]


def saved_toy(folder):
    toy().save_pretrained(folder)


def with_another_base(folder):
    shape = {"num_key_value_heads": 4, "rope_parameters": {"rope_theta": 500.0}}
    make_toy("llama", 3, tie_word_embeddings=True, **shape).save_pretrained(folder)


@torch.inference_mode()
def expected(folder, text):
    model = load_causal_lm(folder, "float32", "cpu")
    return model(torch.tensor([text])).logits[0, -1].numpy()


@pytest.mark.parametrize(
    "write", [write_checkpoint, write_counting_model, saved_toy, with_another_base]
)
@pytest.mark.parametrize("text", [TEXT[:1], TEXT, LONG], ids=len)
def test_logits_are_those_of_transformers(tmp_path, write, text):
    write(tmp_path)
    wanted = expected(tmp_path, text)
    found = Llama.open(tmp_path).logits(text)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_weights_may_be_stored_in_bfloat16(tmp_path):
    make_toy("llama").to(torch.bfloat16).save_pretrained(tmp_path)
    wanted = expected(tmp_path, TEXT)
    found = Llama.open(tmp_path).logits(TEXT)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


def test_what_was_computed_for_other_texts_changes_nothing(tmp_path):
    saved_toy(tmp_path)
    llama = Llama.open(tmp_path)
    beginnings = [TEXT[:size] for size in (3, 1, 5)]
    for text in (*beginnings, [*TEXT[:3], 7, 7], [*TEXT[:5], 1], TEXT, TEXT[:3]):
        wanted = expected(tmp_path, text)
        np.testing.assert_allclose(llama.logits(text), wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "change",
    [
        {"model_type": "qwen2"},
        {"rope_scaling": {"rope_type": "linear", "factor": 2.0}},
        {"rope_parameters": {"rope_type": "linear", "factor": 2.0}},
        {"attention_bias": True},
    ],
)
def test_what_it_would_compute_wrongly_is_refused(tmp_path, change):
    write_checkpoint(tmp_path)
    path = tmp_path / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    with pytest.raises(ValueError, match="is not a plain Llama"):
        Llama.open(tmp_path)
