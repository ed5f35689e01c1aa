"""Later turns go on from the same answers in every arm."""

from __future__ import annotations

import pytest

from tests.bench.fakes import FakeRunner
from trtspec.bench.conversations import with_history
from trtspec.bench.driver import BenchPrompt
from trtspec.bench.in_process import InProcess
from trtspec.errors import RunError
from trtspec.recipe.workload import load_prompts


class Speaking(FakeRunner):
    """Answers with the number of its prompt's tokens."""

    def _leave(self, running, tokens):
        running.completion.text = f"answer {len(running.request.prompt)}"
        return super()._leave(running, tokens)


def render(prompts):
    return [
        BenchPrompt(p.id, p.category, p.messages, tuple(range(1, 1 + len(p.messages))))
        for p in prompts
    ]


@pytest.fixture
def prompts(tmp_path):
    file = tmp_path / "p.jsonl"
    file.write_text(
        '{"id": "a", "turns": ["x", "y", "z"]}\n{"id": "b", "prompt": "q"}\n'
    )
    return load_prompts(file, turns="all")


def history(prompts, runner):
    driver = InProcess(runner, clock=runner.clock)
    return with_history(prompts, driver, render, 5)


def test_each_turn_gets_the_answers_before_it(prompts):
    runner = Speaking()
    filled = {
        p.id: [m["content"] for m in p.messages] for p in history(prompts, runner)
    }
    assert list(filled.values()) == [
        ["x"],
        ["x", "answer 1", "y"],
        ["x", "answer 1", "y", "answer 3", "z"],
        ["q"],
    ]
    assert not any(r.speculate for r in runner.submitted)
    assert {r.sampling.temperature for r in runner.submitted} == {0.0}
    assert len(runner.submitted) == 2  # the last answer is not needed


def test_prompts_that_are_whole_ask_nothing(prompts):
    runner = Speaking()
    whole = [p for p in prompts if not p.follows]
    assert history(whole, runner) == whole
    assert runner.submitted == []


def test_an_answer_that_fails_is_an_error(prompts):
    runner = Speaking()
    runner.before_advance = lambda r: r.cancel("a/1/history")
    with pytest.raises(RunError, match="no answer to go on from: was cancelled"):
        history(prompts, runner)
