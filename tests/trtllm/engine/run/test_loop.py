"""Requests join, and are cancelled at any time, and the engine is told."""

from __future__ import annotations

import pytest

from tests.trtllm.engine.run.artifacts import ask, finish, greedy_tokens
from tests.trtllm.engine.run.fakes import Script
from trtspec.errors import UsageError
from trtspec.run import generate
from trtspec.trtllm.engine.run import executor as executor_module

METHODS = ["none", "ngram", "draft_target", "medusa"]


@pytest.mark.parametrize("method", METHODS)
def test_a_running_request_ends_with_what_it_has(open_engine, bindings, method):
    runner = open_engine(method)
    runner.submit(ask(tokens=40))
    emitted = [t for _ in range(2) for c in runner.advance().chunks for t in c.tokens]
    runner.cancel("r")
    (chunk,) = runner.advance().chunks
    assert chunk.completion.finish_reason == "cancelled"
    assert chunk.completion.tokens == emitted
    while runner.busy:
        assert not runner.advance().chunks


@pytest.mark.parametrize("method", METHODS)
def test_a_queued_request_never_reaches_the_engine(open_engine, bindings, method):
    runner = open_engine(method)
    for i in range(3):
        runner.submit(ask(f"r{i}", (3 + i, 9), 8))
    runner.advance()
    runner.cancel("r2")
    done, _ = finish(runner)
    assert done["r2"].finish_reason == "cancelled"
    assert done["r2"].tokens == []
    assert done["r0"].tokens == greedy_tokens((3, 9), 8)
    prompts = [r.input_token_ids[:2] for r in bindings.executors["target"].requests]
    assert [5, 9] not in prompts


def test_the_engine_is_told_and_its_last_words_are_ignored(open_engine, bindings):
    runner = open_engine("none")
    runner.submit(ask("a", tokens=40))
    runner.submit(ask("b", (4, 8), 10))
    runner.advance()
    runner.cancel("a")
    done, _ = finish(runner)
    assert bindings.executors["target"].cancelled == [1]
    assert done["b"].tokens == greedy_tokens((4, 8), 10)


def test_the_runner_is_busy_until_the_engine_is_free(open_engine, bindings):
    runner = open_engine("none")
    runner.submit(ask(tokens=40))
    runner.advance()
    runner.cancel("r")
    runner.advance()
    assert runner.busy
    runner.advance()
    assert not runner.busy


def test_an_engine_that_never_confirms_is_not_waited_for(
    open_engine, bindings, monkeypatch
):
    monkeypatch.setattr(executor_module, "DRAIN_SECONDS", 0.0)
    bindings.scripts["target"] = Script(answers_cancellation=False)
    runner = open_engine("none")
    runner.submit(ask(tokens=40))
    runner.advance()
    runner.cancel("r")
    runner.advance()
    runner.advance()
    assert not runner.busy


def test_cancelling_the_unknown_or_the_finished_changes_nothing(open_engine, bindings):
    runner = open_engine("none")
    finish(runner, ask())
    runner.cancel("r")
    runner.cancel("nobody")
    assert not runner.busy
    assert not bindings.executors["target"].cancelled


def test_the_place_of_a_cancelled_request_is_taken(open_engine, bindings):
    runner = open_engine("ngram")
    for i in range(3):
        runner.submit(ask(f"r{i}", tokens=12))
    runner.advance()
    runner.cancel("r0")
    done, _ = finish(runner)
    assert done["r2"].tokens == greedy_tokens()


@pytest.mark.parametrize("method", METHODS)
def test_an_id_is_taken_once_at_a_time(open_engine, bindings, method):
    runner = open_engine(method)
    for name in "abc":
        runner.submit(ask(name, tokens=9))
    runner.advance()
    for name in "abc":  # two run, one waits
        with pytest.raises(UsageError, match=f"a request '{name}' already"):
            runner.submit(ask(name, (4, 8)))
    done, _ = finish(runner)
    assert all(done[name].tokens == greedy_tokens(count=9) for name in "abc")
    assert finish(runner, ask("a"))[0]["a"].tokens == greedy_tokens()


@pytest.mark.parametrize("method", METHODS)
def test_stopping_early_leaves_nothing_behind(open_engine, bindings, method):
    runner = open_engine(method)
    chunks = generate(runner, [ask(f"r{i}", tokens=40) for i in range(4)])
    next(chunks)
    chunks.close()
    assert not runner.busy
