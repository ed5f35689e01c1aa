"""A real model answers real prompts: the same tokens with and without speculation."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoModelForCausalLM

from tests.e2e.conftest import ROOT
from trtspec.recipe import Recipe, load_prompts, load_recipe
from trtspec.reference.runner import ReferenceRunner
from trtspec.run import Request, generate

pytestmark = pytest.mark.slow

TOKENS = 24
WORKLOADS = sorted((ROOT / "recipes/workloads").glob("*.jsonl"))
RECIPES = ROOT / "recipes/smollm2-135m"
SHIPPED = sorted(path.name for path in (RECIPES / "drafters").iterdir())


def runner_for(demo, batch: int, draft_length: int) -> ReferenceRunner:
    content = demo.recipe.model_dump(by_alias=True)
    content["limits"]["max_batch_size"] = batch
    content["speculation"]["draft_length"] = draft_length
    return ReferenceRunner(Recipe.model_validate(content), demo.target, None)


def requests_for(runner, **options) -> list[Request]:
    """The last prompt of each workload."""
    prompts = [load_prompts(path)[-1] for path in WORKLOADS]
    return [
        Request(p.id, runner.encode_chat(p.messages), TOKENS, **options)
        for p in prompts
    ]


def decode(runner, requests):
    chunks = generate(runner, requests)
    return {c.request_id: c.completion for c in chunks if c.completion}


@pytest.fixture(scope="module")
def plain(demo):
    """Greedy decoding without speculation, one request at a time."""
    runner = runner_for(demo, 1, 4)
    return decode(runner, requests_for(runner, speculate=False))


def test_plain_decoding_is_that_of_transformers(demo, plain):
    model = AutoModelForCausalLM.from_pretrained(demo.target, dtype=torch.float32)
    request = requests_for(runner_for(demo, 1, 4))[0]
    ids = torch.tensor([request.prompt])
    expected = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        do_sample=False,
        max_new_tokens=TOKENS,
    )
    tokens = plain[request.id].tokens
    assert tokens == expected[0, ids.shape[1] :].tolist()


@pytest.mark.parametrize(("batch", "draft_length"), [(1, 4), (8, 1), (8, 5), (8, 8)])
def test_speculation_leaves_the_greedy_tokens_alone(demo, plain, batch, draft_length):
    runner = runner_for(demo, batch, draft_length)
    done = decode(runner, requests_for(runner))
    assert {k: c.tokens for k, c in done.items()} == {
        k: c.tokens for k, c in plain.items()
    }
    assert sum(c.accepted for c in done.values()) > 0


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("batch", [1, 8])
def test_shipped_drafters_leave_the_greedy_tokens_alone(demo, plain, name, batch):
    recipe = load_recipe(RECIPES / f"{name}.yaml").recipe
    runner = ReferenceRunner(recipe, demo.target, RECIPES / "drafters" / name)
    done = {}
    for first in range(0, len(plain), batch):
        requests = requests_for(runner)[first : first + batch]
        done |= decode(runner, requests)
    assert {k: c.tokens for k, c in done.items()} == {
        k: c.tokens for k, c in plain.items()
    }
    assert batch > 4 or sum(c.accepted for c in done.values()) > 0


def test_text_is_readable(plain):
    for completion in plain.values():
        assert len(completion.text.split()) > 3
        assert "<|im_end|>" not in completion.text
