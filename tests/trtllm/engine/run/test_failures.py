"""Requests are cancelled and fail at any time; nothing is left behind, nothing hidden.

A request that fails ends all of them. The engine, if it lives, is free for others.
"""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tests.trtllm.engine.run.artifacts import ask, finish, greedy_tokens, sampled
from tests.trtllm.engine.run.fakes import FakeBindings, Script
from trtspec.errors import RunError, UsageError
from trtspec.run import generate
from trtspec.trtllm import facts
from trtspec.trtllm.engine.run.request import EngineRequest

KNOWN = {failure.name: failure for failure in facts.failures()}
METHODS = ["none", "ngram", "draft_target", "medusa"]
TOO_LONG = "Draft tokens length (9) exceeds maximum draft tokens length (6)."


def failing(prompt, message=TOO_LONG):
    return Script(
        error=lambda tokens: message if tokens[: len(prompt)] == prompt else ""
    )


@pytest.mark.parametrize("method", METHODS)
def test_a_request_that_fails_ends_all_and_the_runner_is_free_again(
    open_engine, bindings, method
):
    bindings.scripts["target"] = failing([5, 5])
    runner = open_engine(method)
    for name, prompt in (("good", (3, 9)), ("bad", (5, 5)), ("waiting", (4, 4))):
        runner.submit(ask(name, prompt, 9))
    with pytest.raises(RunError, match=r"request bad: .*exceeds maximum") as caught:
        finish(runner)
    assert [p.where for p in caught.value.problems] == ["request bad"]
    assert not runner.busy
    done, _ = finish(runner, ask("good"))
    assert done.keys() == {"good"}
    assert done["good"].tokens == greedy_tokens()


@pytest.mark.parametrize("method", METHODS)
def test_what_still_runs_is_cancelled_when_another_fails(open_engine, bindings, method):
    bindings.scripts["target"] = failing([5, 5])
    runner = open_engine(method)
    runner.submit(ask("good", tokens=30))
    runner.advance()
    runner.submit(ask("bad", (5, 5), 9))
    with pytest.raises(RunError, match="request bad"):
        finish(runner)
    target = bindings.executors["target"]
    streaming = method in ("none", "medusa")  # rounds leave nothing on the engine
    assert target.cancelled == ([1] if streaming else [])
    assert not target._active


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
    with pytest.raises(RunError) as caught:
        finish(runner, ask("good", tokens=9), ask("bad", (5, 5), 9))
    (problem,) = caught.value.problems
    assert problem.where == "request bad, draft engine"
    assert problem.action == known.action
    assert not runner.busy


@pytest.mark.parametrize("engine", ["target", "draft"])
@pytest.mark.parametrize("method", METHODS)
def test_when_a_step_of_the_engine_fails_all_active_requests_say_so(
    open_engine, bindings, method, engine
):
    """The engine answers every active request with the error, and lives on."""
    if engine == "draft" and method != "draft_target":
        return
    failed = []
    message = "Encountered an error in forwardAsync function"
    bindings.scripts[engine] = Script(
        error=lambda text: "" if failed else message,
    )
    runner = open_engine(method)
    with pytest.raises(RunError) as caught:
        finish(runner, *(ask(f"r{i}", tokens=30) for i in range(3)))
    named = [p.where.partition(",")[0] for p in caught.value.problems]
    assert named == ["request r0", "request r1"]  # r2 had no place yet
    assert all(message in p.what for p in caught.value.problems)
    assert not runner.busy
    failed.append(True)
    assert finish(runner, ask("r0"))[0]["r0"].tokens == greedy_tokens()


@pytest.mark.parametrize("engine", ["target", "draft"])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("polls", [1, 2, 3])
def test_a_dead_engine_ends_everything(open_engine, bindings, method, engine, polls):
    if engine == "draft" and method != "draft_target":
        return
    bindings.scripts[engine] = Script(dies_at=polls)
    runner = open_engine(method)
    requests = [ask(f"r{i}", tokens=30) for i in range(4)]
    for _ in range(2):  # and nothing new is taken, for the same reason
        with pytest.raises(RunError, match=f"{engine} engine: .*illegal memory access"):
            list(generate(runner, requests))
        assert not runner.busy
    with pytest.raises(RunError, match=f"{engine} engine: .*illegal memory access"):
        runner.submit(ask())
    assert not runner.advance().chunks
    assert not bindings.executors[engine].cancelled


def test_an_engine_that_dies_of_a_cancellation_ends_everything(open_engine, bindings):
    runner = open_engine("none")
    runner.submit(ask("a", tokens=30))
    runner.submit(ask("b", tokens=30))
    runner.advance()
    bindings.executors["target"].is_dead = True
    runner.cancel("a")
    with pytest.raises(RunError, match=r"target engine: .*illegal memory access"):
        runner.advance()
    assert not runner.busy


def test_an_error_while_cancelling_does_not_hide_the_first_one(open_engine, bindings):
    bindings.scripts["target"] = failing([5, 5])
    runner = open_engine("none")
    runner.submit(ask("good", tokens=30))
    runner.advance()
    target = bindings.executors["target"]

    def die(request):
        target.is_dead = True
        raise RuntimeError("MPI is gone")

    target.cancel_request = die
    with pytest.raises(RunError, match=r"request bad: .*exceeds maximum"):
        list(generate(runner, [ask("bad", (5, 5), 9)]))
    assert not runner.busy


def test_an_interrupt_leaves_nothing_behind(open_engine, bindings):
    runner = open_engine("draft_target")
    draft = bindings.executors["draft"]
    real = draft.await_responses

    def interrupted(timeout):
        draft.await_responses = real
        raise KeyboardInterrupt

    draft.await_responses = interrupted
    with pytest.raises(KeyboardInterrupt):
        finish(runner, ask(tokens=30))
    assert not runner.busy
    assert draft.cancelled == [1]
    assert finish(runner, ask())[0]["r"].tokens == greedy_tokens()


def test_a_draft_engine_that_still_drains_keeps_the_runner_busy(open_engine, bindings):
    runner = open_engine("draft_target")
    draft = runner._executors[0]
    with_draft = draft.enqueue([runner._loop._rounds._drafter._request(running(), 4)])
    draft.discard(with_draft[0])
    assert runner.busy
    runner.advance()
    assert not runner.busy


def running():
    return EngineRequest(ask(), SimpleNamespace(), frozenset(), 0.0)


def test_a_request_that_cannot_be_made_is_named(open_engine, bindings, monkeypatch):
    made = FakeBindings.__getattr__

    def refusing(self, name):
        def make(**arguments):
            if name == "Request" and arguments["input_token_ids"][:2] == [5, 5]:
                raise RuntimeError("Assertion failed: mInputTokenIds")
            return made(self, name)(**arguments)

        return make

    monkeypatch.setattr(FakeBindings, "__getattr__", refusing)
    runner = open_engine("none")
    runner.submit(ask("good", tokens=30))
    runner.advance()
    with pytest.raises(RunError) as caught:
        finish(runner, ask("bad", (5, 5)))
    (problem,) = caught.value.problems
    assert problem.where == "request bad, Request of TensorRT-LLM 1.2.1"
    assert "mInputTokenIds" in problem.what
    assert not runner.busy
    assert finish(runner, ask())[0]["r"].tokens == greedy_tokens()


def test_a_token_less_answer_is_an_error_not_a_loop(open_engine, bindings):
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
