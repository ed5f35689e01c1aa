"""A real model answers real prompts: the same tokens with and without speculation."""

from __future__ import annotations

import pytest
import torch
from transformers import AutoModelForCausalLM

from tests.e2e.conftest import ROOT
from trtspec.recipe import Prompt, Recipe, load_prompts, load_recipe
from trtspec.reference.runner import ReferenceRunner
from trtspec.reference.tracing import trace
from trtspec.run import Request, generate
from trtspec.tune.rank_tree import best_trees, comb, with_tree
from trtspec.tune.record import prompt_trace
from trtspec.tune.replay import replay

pytestmark = pytest.mark.slow

TOKENS = 16
KINDS = ("chat", "code", "extract", "math", "translate")
ALONE = 3
"""So many prompts are decoded one at a time; all of them are decoded in one batch."""
RECIPES = ROOT / "recipes/smollm2-135m"
SHIPPED = sorted(path.name for path in (RECIPES / "drafters").iterdir())


def runner_for(demo, batch: int, draft_length: int) -> ReferenceRunner:
    content = demo.recipe.model_dump(by_alias=True)
    content["limits"]["max_batch_size"] = batch
    content["speculation"]["draft_length"] = draft_length
    return ReferenceRunner(Recipe.model_validate(content), demo.target, None)


def shortest(kind: str) -> Prompt:
    """The prompt of a workload that takes least time to read."""
    prompts = load_prompts(ROOT / f"recipes/workloads/{kind}.jsonl")
    return min(prompts, key=lambda prompt: len(str(prompt.messages)))


def requests_for(runner, **options) -> list[Request]:
    """One request of each kind."""
    return [
        Request(p.id, runner.encode_chat(p.messages), TOKENS, **options)
        for p in map(shortest, KINDS)
    ]


def decode(runner, requests):
    chunks = generate(runner, requests)
    return {c.request_id: c.completion for c in chunks if c.completion}


def speculated(runner, batch: int, plain):
    """Decode with speculation; the tokens must be those of plain decoding."""
    done = decode(runner, requests_for(runner)[: ALONE if batch == 1 else None])
    assert len(done) == (ALONE if batch == 1 else len(KINDS))
    for name, completion in done.items():
        assert completion.tokens == plain[name].tokens, name
    return done


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


@pytest.fixture(scope="module")
def traces(demo):
    """What drafts of up to 8 tokens would have brought, at every place."""
    runner = runner_for(demo, 8, 8)
    found = trace(runner, requests_for(runner))
    return [
        prompt_trace(completion, places, limit=TOKENS)
        for completion, places in zip(found.completions, found.places, strict=True)
    ]


@pytest.mark.parametrize(("batch", "draft_length"), [(1, 4), (8, 1), (8, 5), (8, 8)])
def test_speculation_leaves_the_greedy_tokens_alone(
    demo, plain, traces, batch, draft_length
):
    done = speculated(runner_for(demo, batch, draft_length), batch, plain)
    assert sum(c.accepted for c in done.values()) > 0
    replayed = replay(traces, batch, lambda _: draft_length).by_prompt
    for name, completion in done.items():
        assert tuple(completion.draft_steps or ()) == replayed[name], name


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("batch", [1, 8])
def test_shipped_drafters_leave_the_greedy_tokens_alone(demo, plain, name, batch):
    content = load_recipe(RECIPES / f"{name}.yaml").recipe.model_dump(by_alias=True)
    content["limits"]["max_batch_size"] = batch
    recipe = Recipe.model_validate(content)
    runner = ReferenceRunner(recipe, demo.target, RECIPES / "drafters" / name)
    done = speculated(runner, batch, plain)
    assert batch > 4 or sum(c.accepted for c in done.values()) > 0


def medusa_runner(demo, tree) -> ReferenceRunner:
    content = load_recipe(RECIPES / "medusa.yaml").recipe.model_dump(by_alias=True)
    content["speculation"] |= {"tree": tree, "max_draft_tokens": len(tree)}
    recipe = Recipe.model_validate(content)
    return ReferenceRunner(recipe, demo.target, RECIPES / "drafters/medusa")


def test_trees_of_medusa_heads_are_replayed_as_they_are(demo, plain):
    """From one trace of ranks, the steps of trees that were not drafted in it."""
    tracing = medusa_runner(demo, comb(4, 3))
    found = trace(tracing, requests_for(tracing))
    traces = [
        prompt_trace(completion, places, limit=TOKENS, ranked=True)
        for completion, places in zip(found.completions, found.places, strict=True)
    ]
    (tree,) = best_trees(traces, [6]).values()
    assert any(path[0] > 0 for path in tree)
    done = speculated(medusa_runner(demo, tree), 8, plain)
    replayed = replay([with_tree(t, tree) for t in traces], 8, lambda _: 3).by_prompt
    assert sum(c.accepted for c in done.values()) > 0
    for name, completion in done.items():
        assert tuple(completion.draft_steps or ()) == replayed[name], name


def test_text_is_readable(plain):
    for completion in plain.values():
        assert len(completion.text.split()) > 3
        assert "<|im_end|>" not in completion.text
