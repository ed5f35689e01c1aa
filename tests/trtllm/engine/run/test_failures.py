"""What goes wrong names its request, is explained, and leaves nothing behind."""

from __future__ import annotations

import pytest

from tests.trtllm.engine.run.artifacts import (
    ask,
    finish,
    greedy_tokens,
    sampled,
)
from tests.trtllm.engine.run.fakes import Script
from trtspec.errors import RunError, UsageError
from trtspec.run import generate
from trtspec.trtllm import facts
from trtspec.trtllm.engine.run import executor as executor_module

KNOWN = {failure.name: failure for failure in facts.failures()}
METHODS = ["none", "ngram", "draft_target", "medusa"]
TOO_LONG = "Draft tokens length (9) exceeds maximum draft tokens length (6)."


def failing(prompt, message=TOO_LONG):
    return Script(
        error=lambda tokens: message if tokens[: len(prompt)] == prompt else ""
    )


def collect(runner):
    """Advance to the end; completions and errors in the order they came."""
    done, errors = {}, []
    while runner.busy:
        try:
            chunks = runner.advance().chunks
        except RunError as error:
            errors.append(error)
        else:
            done |= {c.request_id: c.completion for c in chunks if c.completion}
    return done, errors


@pytest.mark.parametrize("method", METHODS)
def test_an_error_of_one_request_leaves_the_others_alone(open_engine, bindings, method):
    bindings.scripts["target"] = failing([5, 5])
    runner = open_engine(method)
    runner.submit(ask("good", tokens=9))
    runner.submit(ask("bad", (5, 5), 9))
    done, (error,) = collect(runner)
    assert done.keys() == {"good"}
    assert done["good"].tokens == greedy_tokens(count=9)
    assert error.problems[0].where == "request bad"
    assert TOO_LONG in str(error)
    assert finish(runner, ask("next"))[0]["next"].tokens == greedy_tokens()


def test_a_known_message_is_explained(open_engine, bindings):
    known = KNOWN["draft_too_long"]
    bindings.scripts["target"] = failing([3, 9, 4], known.example)
    with pytest.raises(RunError) as caught:
        finish(open_engine("ngram"), ask())
    (problem,) = caught.value.problems
    assert problem.what.startswith(f"TensorRT-LLM says: {known.example}")
    assert f"meaning: {known.meaning}" in problem.what
    assert problem.action == known.action


def test_an_error_of_the_draft_engine_names_it(open_engine, bindings):
    known = KNOWN["vocabulary_rows_differ"]
    bindings.scripts["draft"] = failing([5, 5], known.example)
    runner = open_engine("draft_target")
    runner.submit(ask("good", tokens=9))
    runner.submit(ask("bad", (5, 5), 9))
    done, (error,) = collect(runner)
    assert done["good"].tokens == greedy_tokens(count=9)
    assert error.problems[0].where == "request bad, draft engine"
    assert error.problems[0].action == known.action


def test_several_errors_come_as_one(open_engine, bindings):
    bindings.scripts["target"] = Script(error=lambda tokens: "no")
    runner = open_engine("ngram")
    runner.submit(ask("a"))
    runner.submit(ask("b"))
    done, (error,) = collect(runner)
    assert [p.where for p in error.problems] == ["request a", "request b"]
    assert not done


@pytest.mark.parametrize("engine", ["target", "draft"])
@pytest.mark.parametrize("method", METHODS)
def test_a_dead_engine_ends_everything(open_engine, bindings, method, engine):
    if engine == "draft" and method != "draft_target":
        return
    bindings.scripts[engine] = Script(dies_at=2)
    runner = open_engine(method)
    for i in range(4):
        runner.submit(ask(f"r{i}", tokens=30))
    with pytest.raises(RunError, match=f"{engine} engine: .*illegal memory access"):
        finish(runner)
    assert not runner._loop.running
    assert not runner._loop.waiting


def test_an_engine_that_stops_taking_requests_is_noticed(open_engine, bindings):
    runner = open_engine("none")
    runner.submit(ask())
    executor = bindings.executors["target"]
    executor.await_responses = lambda timeout: []
    runner.advance()
    executor.takes_requests = False
    with pytest.raises(RunError, match="takes no requests any more"):
        runner.advance()
    assert not runner._loop.running


def test_an_engine_that_is_silent_for_too_long_is_taken_for_dead(
    open_engine, bindings, monkeypatch
):
    monkeypatch.setattr(executor_module, "SILENCE_SECONDS", 0.0)
    runner = open_engine("ngram")
    runner.submit(ask())
    bindings.executors["target"].await_responses = lambda timeout: []
    with pytest.raises(RunError, match="target engine: has not answered"):
        runner.advance()
    assert bindings.executors["target"].cancelled == [1]


def test_a_refused_batch_ends_everything(open_engine, bindings):
    def refuse(requests):
        raise RuntimeError("std::bad_alloc")

    runner = open_engine("none")
    bindings.executors["target"].enqueue_requests = refuse
    runner.submit(ask())
    with pytest.raises(RunError, match="bad_alloc"):
        runner.advance()
    assert not runner.busy


def test_a_token_less_answer_is_an_error_not_a_loop(open_engine, bindings):
    bindings.scripts["target"] = Script(cut=1)
    runner = open_engine("ngram")
    executor = bindings.executors["target"]
    real = executor.await_responses

    def nothing(timeout):
        responses = real(timeout)
        for response in responses:
            response.result.output_token_ids = [[]]
        return responses

    executor.await_responses = nothing
    with pytest.raises(RunError, match="returned no token"):
        finish(runner, ask())
    assert not runner.busy


def test_lossy_requests_never_reach_the_engine(open_engine, bindings):
    runner = open_engine("ngram")
    with pytest.raises(UsageError, match="lossy"):
        runner.submit(ask(sampling=sampled()))
    assert not runner.busy
    assert not bindings.executors["target"].requests


@pytest.mark.parametrize("method", METHODS)
def test_stopping_early_leaves_nothing_behind(open_engine, bindings, method):
    runner = open_engine(method)
    chunks = generate(runner, [ask(f"r{i}", tokens=40) for i in range(4)])
    next(chunks)
    chunks.close()
    assert not runner.busy
