"""A load that cannot run as asked is refused before the first request."""

from __future__ import annotations

import pytest

from tests.bench.fakes import FakeRunner, plan, run
from trtspec.bench.collect import BenchPrompt
from trtspec.bench.fit import require_concurrency, require_runnable
from trtspec.bench.plan import Choices
from trtspec.errors import UsageError
from trtspec.recipe.schema import Recipe


@pytest.mark.parametrize(
    ("runner", "changes", "words"),
    [
        (
            FakeRunner(max_input_tokens=6),
            {},
            ["prompt p7: is 7 tokens", "prompt p8: is 8 tokens"],
        ),
        (
            FakeRunner(max_total_tokens=12),
            {},
            ["p8: is 8", "1 to 7 tokens, with 5 output"],
        ),
        (FakeRunner(), {"output_tokens": 128}, ["128 output tokens leave no room"]),
        (FakeRunner(), {"concurrency": (9,)}, ["concurrency: 9 requests", "1 to 8"]),
        (
            FakeRunner(max_running=2),
            {"concurrency": (1, 4)},
            ["concurrency: 4 requests"],
        ),
    ],
)
def test_a_load_that_cannot_run_as_asked_is_refused_at_once(runner, changes, words):
    with pytest.raises(UsageError) as caught:
        run(runner, plan(8, **changes))
    for word in words:
        assert word in str(caught.value)
    assert runner.submitted == []


def test_prompt_ids_must_be_unique():
    same = plan(2)
    twice = (same.prompts[0], BenchPrompt("p1", "chat", (4, 5)))
    changed = type(same)(same.artifact, same.prompt_set, twice, same.settings)
    with pytest.raises(UsageError, match="'p1' occurs 2 times"):
        require_runnable(FakeRunner(), changed)


def test_everything_that_does_not_fit_is_listed_at_once():
    runner = FakeRunner(max_running=2, max_input_tokens=7)
    with pytest.raises(UsageError) as caught:
        require_runnable(runner, plan(9, concurrency=(1, 3, 4)))
    where = [problem.where for problem in caught.value.problems]
    assert where == ["prompt p8", "prompt p9", "concurrency", "concurrency"]


def test_an_empty_prompt_is_refused():
    some = plan(1)
    empty = (BenchPrompt("nothing", "chat", ()),)
    changed = type(some)(some.artifact, some.prompt_set, empty, some.settings)
    with pytest.raises(UsageError, match="prompt nothing: is 0 tokens long"):
        require_runnable(FakeRunner(), changed)


def test_a_load_at_the_limits_is_accepted():
    runner = FakeRunner(max_running=8, max_input_tokens=8, max_total_tokens=13)
    require_runnable(runner, plan(8, concurrency=(1, 8), output_tokens=5))


def test_a_concurrency_is_refused_by_the_recipe_in_the_same_words():
    recipe = Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "toy",
            "target": {"model": "./target"},
            "speculation": {"method": "ngram", "draft_length": 3},
            "workload": {"prompts": "w.jsonl", "concurrency": [1, 5]},
            "limits": {"max_batch_size": 4},
        }
    )
    with pytest.raises(UsageError) as early:
        require_concurrency(recipe, Choices(), 8)
    with pytest.raises(UsageError) as late:
        require_runnable(FakeRunner(max_running=4), plan(8, concurrency=(1, 5)))
    assert str(early.value) == str(late.value)
    require_concurrency(recipe, Choices(concurrency=(1, 4)), 4)
    with pytest.raises(UsageError, match="4 requests cannot be kept in flight"):
        require_concurrency(recipe, Choices(concurrency=(1, 4)), 3)
