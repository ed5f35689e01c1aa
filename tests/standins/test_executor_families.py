"""Engines of every family that the scripts convert, in every type of weights."""

import pytest
import torch

from tests.reference.toys import SHAPES, make_toy
from tests.standins.engines import PAGED, bench
from tests.standins.samples import succeeded

EXPERTS = {"num_key_value_heads": 2, "num_local_experts": 4, "num_experts_per_tok": 2}
FAMILIES = {
    "llama": (SHAPES["llama"], "llama"),
    "mistral": ({**SHAPES["mistral"], "sliding_window": None}, "llama"),
    "mixtral": (EXPERTS, "llama"),
    "qwen2": (SHAPES["qwen2"], "qwen"),
}


def built(folder, model, script, dtype):
    here = bench()
    model.save_pretrained(folder / "hf")
    given = ("--model_dir", folder / "hf", "--output_dir", folder / "checkpoint")
    succeeded(here.script(script, *given, "--dtype", dtype))
    io = ("--checkpoint_dir", folder / "checkpoint", "--output_dir", folder / "engine")
    succeeded(here.call("trtllm-build", *io, *PAGED, "--max_batch_size", "2"))
    return folder / "engine"


@torch.inference_mode()
def greedy(model, prompt, tokens):
    text = list(prompt)
    for _ in range(tokens):
        text.append(int(model(torch.tensor([text])).logits[0, -1].argmax()))
    return text[len(prompt) :]


@pytest.mark.parametrize("family", FAMILIES)
def test_output_is_the_models(session, tmp_path, family):
    shape, script = FAMILIES[family]
    model = make_toy(family, **shape)
    folder = built(tmp_path, model, script, "float32")
    with session.open(folder) as executor:
        (result,) = session.run(executor, session.request())
    assert result.output_token_ids == [greedy(model, (3, 9, 4), 12)]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_weights_are_rounded_to_the_type_of_the_engine(session, tmp_path, dtype):
    model = make_toy("llama", **SHAPES["llama"])
    folder = built(tmp_path, model, "llama", dtype)
    rounded = model.to(getattr(torch, dtype)).float()
    with session.open(folder) as executor:
        (result,) = session.run(executor, session.request())
    assert result.output_token_ids == [greedy(rounded, (3, 9, 4), 12)]
