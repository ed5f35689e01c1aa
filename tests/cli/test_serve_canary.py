"""The canary of a server in this process: what is asked, and what is said of it."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from tests.reference.artifacts import recipe, write_model
from tests.serve.serving import runner_of, served
from trtspec.cli.serve_canary import TOKENS, Looked, canary_words, look_at_server
from trtspec.errors import RunError, VerificationError
from trtspec.verify.canary import CanaryResult, Check


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("canary") / "target")


@pytest.fixture
def artifact(tmp_path):
    """As much of an artifact as the canary looks at."""

    def make(prompts=("w3 w4 w3 w4", "w7 w8 w9"), **limits):
        asked = recipe({"method": "ngram", "draft_length": 3}, **limits)
        workload = None
        if prompts is not None:
            workload = tmp_path / "prompts.jsonl"
            rows = [
                json.dumps({"messages": [{"role": "user", "content": text}]})
                for text in prompts
            ]
            workload.write_text("\n".join(rows))
        return SimpleNamespace(recipe=asked, workload=workload)

    return make


@pytest.fixture
def look(target):
    """Serve, look, and give the result with the bodies that were asked."""

    def run(artifact, chat=True, spoil=None):
        runner = runner_of(artifact.recipe, target)
        asked = []
        submit = runner.submit

        def watched(request):
            asked.append(request)
            submit(request)

        runner.submit = watched
        if spoil:
            spoil(runner)
        found = []

        with served(runner, artifact.recipe, keys=["other"]) as server:
            own = f"Bearer {server.service.own_key}"
            looked = Looked(server.url, "toy", own, chat)
            found.append(look_at_server(artifact, looked))
        return found[0], asked

    return run


def test_a_sane_server_passes(look, artifact):
    result, asked = look(artifact())
    assert result.verdict != "fail"
    assert len(asked) > 4
    assert all(request.sampling.greedy for request in asked)
    names = {check.name for check in result.checks}
    assert {"streaming", "stop strings", "usage"} <= names


def test_the_workloads_prompts_are_asked(look, artifact):
    _, asked = look(artifact(["w11 w12"]))
    assert (2, 11, 12, 3) in {request.prompt for request in asked}


def test_no_more_is_asked_for_than_there_is_room_for(look, artifact):
    _, asked = look(artifact(max_input_tokens=20, max_total_tokens=30))
    assert max(request.max_new_tokens for request in asked) == 10 < TOKENS


def test_without_a_workload_it_asks_something_of_its_own(look, artifact):
    # words that the toy does not know are all its first one
    _, asked = look(artifact(None))
    assert len({request.prompt for request in asked}) > 1


def test_a_model_without_a_template_is_sent_text(look, artifact):
    _, asked = look(artifact(["w11 w12"]), chat=False)
    assert (11, 12) in {request.prompt for request in asked}
    assert all(request.prompt[0] != 2 for request in asked), "that is the template"


def test_an_engine_that_fails_fails_the_canary(look, artifact):
    def spoil(runner):
        def advance():
            raise ValueError("x")

        runner.advance = advance

    with pytest.raises((RunError, VerificationError)):
        look(artifact(), spoil=spoil)


def test_a_key_that_does_not_open_is_a_failure(target, artifact):
    made = artifact()
    runner = runner_of(made.recipe, target)
    with served(runner, made.recipe, keys=["other"]) as server:
        looked = Looked(server.url, "toy", "Bearer wrong", True)
        with pytest.raises(RunError, match=r"API key|401"):
            look_at_server(made, looked)


def result_of(*verdicts):
    checks = tuple(
        Check(name="usage", verdict=verdict, what=f"it is {verdict}")
        for verdict in verdicts
    )
    return CanaryResult(
        verdict="fail" if "fail" in verdicts else "pass",
        reasons=tuple(f"usage: it is {v}" for v in verdicts if v != "pass"),
        checks=checks,
        first=None,
        repeated=None,
        recovered=None,
        seconds=1.25,
    )


def test_words_count_what_passed_and_say_what_did_not():
    assert canary_words(result_of("pass", "pass")) == [
        "canary: 2 of 2 checks passed in 1.2 s"
    ]
    first, second = canary_words(result_of("pass", "cannot tell"))
    assert first.startswith("canary: 1 of 2")
    assert second == "canary: usage: it is cannot tell"


def test_a_canary_that_fails_says_why(monkeypatch, artifact):
    from trtspec.cli import serve_canary

    failed = result_of("fail")
    monkeypatch.setattr(serve_canary, "run_canary", lambda *a, **k: failed)
    looked = Looked("http://127.0.0.1:1", "toy", "", False)
    with pytest.raises(VerificationError) as caught:
        look_at_server(artifact(), looked)
    assert "it is fail" in str(caught.value)
    assert "--no-canary" in caught.value.problems[0].action
