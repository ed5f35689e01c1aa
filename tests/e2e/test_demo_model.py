"""A real model answers real prompts: the same tokens with and without speculation."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

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

TOKENS = 12
KINDS = ("chat", "code", "extract", "math", "translate")
FEW = 3
"""So many prompts are enough one at a time, or for trees."""
AGAIN = "-again"
"""Behind the id of a request whose prompt was asked before."""
RECIPES = ROOT / "recipes/smollm2-135m"
SHIPPED = sorted(path.name for path in (RECIPES / "drafters").iterdir())


def recipe_of(demo, batch: int, draft_length: int) -> Recipe:
    content = demo.recipe.model_dump(by_alias=True)
    content["limits"]["max_batch_size"] = batch
    content["speculation"]["draft_length"] = draft_length
    return Recipe.model_validate(content)


@pytest.fixture(scope="module")
def alone(demo):
    """Runner of one request at a time; the others borrow its model."""
    runner = ReferenceRunner(recipe_of(demo, 1, 4), demo.target, None)
    yield runner
    runner.close()


@pytest.fixture
def open_runner(demo, alone):
    """Make a runner for a recipe; after the test the model is as it was."""
    with ExitStack() as opened:

        def make(recipe: Recipe, draft: Path | None = None) -> ReferenceRunner:
            runner = ReferenceRunner(recipe, demo.target, draft, lender=alone)
            opened.callback(runner.close)
            opened.callback(runner.target_slots.capture, ())
            return runner

        yield make


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


def speculated(runner, requests, plain):
    """Decode with speculation; the tokens must be those of plain decoding."""
    done = decode(runner, requests)
    assert len(done) == len(requests)
    for request in requests:
        completion = done[request.id]
        expected = plain[request.id.removesuffix(AGAIN)].tokens
        assert completion.tokens == expected[: request.max_new_tokens], request.id
    assert sum(c.accepted for c in done.values()) > 0
    return done


@pytest.fixture(scope="module")
def plain(alone):
    """Greedy decoding without speculation, one request at a time."""
    return decode(alone, requests_for(alone, speculate=False))


def test_plain_decoding_is_that_of_transformers(demo, alone, plain):
    model = AutoModelForCausalLM.from_pretrained(demo.target, dtype=torch.float32)
    request = requests_for(alone)[0]
    ids = torch.tensor([request.prompt])
    expected = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        do_sample=False,
        max_new_tokens=TOKENS,
    )
    tokens = plain[request.id].tokens
    assert tokens == expected[0, ids.shape[1] :].tolist()


def traces_of(runner, requests, *, ranked=False):
    """What any draft would have brought, at every place."""
    found = trace(runner, requests)
    return [
        prompt_trace(completion, places, limit=TOKENS, ranked=ranked)
        for completion, places in zip(found.completions, found.places, strict=True)
    ]


@pytest.fixture(scope="module")
def traces(demo, alone):
    """Of drafts of up to 8 tokens."""
    runner = ReferenceRunner(recipe_of(demo, 8, 8), demo.target, None, lender=alone)
    found = traces_of(runner, requests_for(runner))
    runner.close()
    return found


@pytest.mark.parametrize("sizes", [(1, 4), (8, 1), (8, 8)])
def test_speculation_leaves_the_greedy_tokens_alone(
    demo, open_runner, plain, traces, sizes
):
    batch, draft_length = sizes
    runner = open_runner(recipe_of(demo, batch, draft_length))
    requests = requests_for(runner)[: FEW if batch == 1 else None]
    done = speculated(runner, requests, plain)
    replayed = replay(traces, batch, lambda _: draft_length).by_prompt
    for name, completion in done.items():
        assert tuple(completion.draft_steps or ()) == replayed[name], name


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_drafters_leave_the_greedy_tokens_alone(open_runner, plain, name):
    """With every slot taken, a slot taken again, and ever fewer requests."""
    content = load_recipe(RECIPES / f"{name}.yaml").recipe.model_dump(by_alias=True)
    content["limits"]["max_batch_size"] = len(KINDS)
    recipe = Recipe.model_validate(content)
    runner = open_runner(recipe, RECIPES / "drafters" / name)
    asked = requests_for(runner)
    asked.append(replace(asked[0], id=asked[0].id + AGAIN))
    lengths = (2, 4, 4, 9, TOKENS, TOKENS)
    requests = [
        replace(request, max_new_tokens=length)
        for request, length in zip(asked, lengths, strict=True)
    ]
    speculated(runner, requests, plain)


def test_trees_of_medusa_heads_are_replayed_as_they_are(open_runner, plain):
    """From one trace of ranks, the steps of trees that were not drafted in it."""

    def runner_with(tree) -> ReferenceRunner:
        content = load_recipe(RECIPES / "medusa.yaml").recipe.model_dump(by_alias=True)
        content["speculation"] |= {"tree": tree, "max_draft_tokens": len(tree)}
        recipe = Recipe.model_validate(content)
        return open_runner(recipe, RECIPES / "drafters/medusa")

    tracing = runner_with(comb(4, 3))
    requests = requests_for(tracing)[:FEW]
    traces = traces_of(tracing, requests, ranked=True)
    (tree,) = best_trees(traces, [6]).values()
    assert any(path[0] > 0 for path in tree)
    done = speculated(runner_with(tree), requests, plain)
    replayed = replay([with_tree(t, tree) for t in traces], 8, lambda _: 3).by_prompt
    for name, completion in done.items():
        assert tuple(completion.draft_steps or ()) == replayed[name], name


def test_text_is_readable(plain):
    for completion in plain.values():
        assert len(completion.text.split()) > 3
        assert "<|im_end|>" not in completion.text
