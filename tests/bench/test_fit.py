"""A load that cannot run as asked is refused before the first request."""

from __future__ import annotations

import pytest

from tests.bench.fakes import FakeRunner, plan, prompts
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.fit import require_concurrency, require_runnable
from trtspec.bench.plan import ladder
from trtspec.bench.records import Load
from trtspec.errors import UsageError
from trtspec.recipe.schema import Recipe


def runnable(runner: FakeRunner, count: int, **changes) -> None:
    require_runnable(runner, prompts(count), plan(count, **changes).settings)


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
        runnable(runner, 8, **changes)
    for word in words:
        assert word in str(caught.value)


def test_prompt_ids_must_be_unique():
    first, _ = prompts(2)
    twice = (first, BenchPrompt("p1", "chat", first.messages, (4, 5)))
    with pytest.raises(UsageError, match="'p1' occurs 2 times"):
        require_runnable(FakeRunner(), twice, plan(2).settings)


def test_everything_that_does_not_fit_is_listed_at_once():
    runner = FakeRunner(max_running=2, max_input_tokens=7)
    with pytest.raises(UsageError) as caught:
        runnable(runner, 9, concurrency=(1, 3, 4))
    where = [problem.where for problem in caught.value.problems]
    assert where == ["prompt p8", "prompt p9", "concurrency", "concurrency"]


def test_an_empty_prompt_is_refused():
    empty = (BenchPrompt("nothing", "chat", (), ()),)
    with pytest.raises(UsageError, match="prompt nothing: is 0 tokens long"):
        require_runnable(FakeRunner(), empty, plan(1).settings)


def test_a_load_at_the_limits_is_accepted():
    runner = FakeRunner(max_running=8, max_input_tokens=8, max_total_tokens=13)
    runnable(runner, 8, concurrency=(1, 8), output_tokens=5)


def test_an_open_loop_has_no_concurrency_to_refuse():
    runnable(FakeRunner(max_running=1), 8, loads=(Load(arrivals="fixed", rate=9.0),))


def recipe(slots: int) -> Recipe:
    return Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "toy",
            "target": {"model": "./target"},
            "speculation": {"method": "ngram", "draft_length": 3},
            "limits": {"max_batch_size": slots},
        }
    )


def test_a_concurrency_is_refused_by_the_recipe_in_the_same_words():
    with pytest.raises(UsageError) as early:
        require_concurrency([recipe(9), recipe(4)], ladder((1, 5)), ["chat"] * 8)
    with pytest.raises(UsageError) as late:
        runnable(FakeRunner(max_running=4), 8, concurrency=(1, 5))
    assert str(early.value) == str(late.value)
    require_concurrency([recipe(4)], ladder((1, 4)), ["chat"] * 4)
    with pytest.raises(UsageError, match="4 requests cannot be kept in flight"):
        require_concurrency([recipe(4)], ladder((1, 4)), ["chat"] * 3)


def test_by_category_the_prompts_of_each_count():
    loads = [Load(concurrency=2, category=c) for c in ("code", "chat")]
    with pytest.raises(UsageError, match="there are 1 prompts of category code"):
        require_concurrency([recipe(4)], loads, ["code", "chat", "chat"])
