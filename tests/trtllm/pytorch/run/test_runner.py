"""Streams become chunks and completions; what fails is told, and everything ends."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.trtllm.pytorch.run.fakes import (
    END,
    ScriptedSource,
    ask,
    chunks,
    delta,
    finish,
)
from trtspec.errors import RunError, UsageError
from trtspec.trtllm.pytorch.metrics import Acceptance


def whole(request):
    """Three tokens, then three at once, and so on; four decode steps of ten tokens."""
    return [
        delta(5, per_iteration=1.0),
        delta(6, 7, 8, per_iteration=2.0),
        delta(9, 10, 11, 12, per_iteration=8 / 3),
        delta(13, 14, per_iteration=2.5, finish="length"),
    ]


def test_several_tokens_in_an_answer_are_one_chunk(open_on):
    found = chunks(open_on(ScriptedSource(whole)), ask(tokens=10))
    assert [c.tokens for c in found] == [(5,), (6, 7, 8), (9, 10, 11, 12), (13, 14)]
    done = found[-1].completion
    assert done.tokens == list(range(5, 15))
    assert (
        done.text
        == "".join(c.text for c in found)
        == " ".join(f"w{i}" for i in range(5, 15))
    )
    assert done.finish_reason == "length"
    assert done.first_token_at == done.last_token_at == 10.0


def test_steps_and_accepted_tokens_come_from_the_mean(open_on):
    done = finish(open_on(ScriptedSource(whole), "eagle3"), ask(tokens=10))["r"]
    assert (done.steps, done.accepted, done.drafted) == (3, 6, 0)
    assert done.acceptance_length == 3.0
    assert done.acceptance_rate is None


def test_a_requests_own_counters_tell_what_was_drafted(open_on):
    counted = Acceptance(drafted=9, accepted=7, source="its own")
    *before, last = whole(ask(tokens=10))
    script = [*before, replace(last, counted=counted)]
    source = ScriptedSource(lambda request: script)
    done = finish(open_on(source, "eagle3"), ask(tokens=10))["r"]
    assert (done.steps, done.accepted, done.drafted) == (3, 7, 9)
    assert done.acceptance_rate == 7 / 9


@pytest.mark.parametrize("told", [None, 0.5, float("nan")])
def test_a_release_that_tells_nothing_usable_leaves_the_counts_out(open_on, told):
    script = [delta(*range(5, 15), per_iteration=told, finish="length")]
    source = ScriptedSource(lambda request: script)
    done = finish(open_on(source, "eagle3"), ask(tokens=10))["r"]
    assert (done.steps, done.accepted) == (0, 0)
    assert done.acceptance_length is None


def test_without_speculation_each_token_but_the_first_is_a_step(open_on):
    done = finish(open_on(ScriptedSource(whole)), ask(tokens=10))["r"]
    assert (done.steps, done.accepted, done.drafted) == (9, 0, 0)


def test_a_stop_string_cuts_the_text_and_ends_the_stream(open_on):
    source = ScriptedSource(
        lambda request: [delta(5, 6, per_iteration=2.0), delta(7, 8, 9), None]
    )
    runner = open_on(source, "eagle3")
    done = finish(runner, ask(stop=("w8",)))["r"]
    assert done.text == "w5 w6 w7 "
    assert done.tokens == [5, 6, 7, 8]
    assert done.finish_reason == "stop"
    assert source.closed == ["r"]
    assert not runner.busy


@pytest.mark.parametrize(
    "last",
    [
        delta(8, END, finish="stop"),
        delta(8, finish="stop"),
        delta(8, finish="stop", stop_token=END),
    ],
    ids=["given", "left out", "told"],
)
def test_an_end_token_ends_it_whether_the_release_gives_it_or_not(open_on, last):
    source = ScriptedSource(lambda request: [delta(5, 6), last])
    done = finish(open_on(source), ask(ignore_eos=False))["r"]
    assert done.tokens == [5, 6, 8, END]
    assert (done.text, done.finish_reason) == ("w5 w6 w8", "stop")


def test_a_stop_token_of_the_requests_own_is_left_out(open_on):
    last = delta(8, 9, finish="stop", stop_token=30, per_iteration=2.0)
    source = ScriptedSource(lambda request: [delta(5), last])
    done = finish(open_on(source, "ngram"), ask(ignore_eos=False))["r"]
    assert (done.tokens, done.finish_reason) == ([5, 8, 9], "stop")
    assert (done.steps, done.accepted) == (1, 2)


def advance_for_ever(runner):
    while True:
        runner.advance()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ([delta(5), RuntimeError("boom")], "a script failed: RuntimeError: boom"),
        ([delta(5), RunError("gone", where="there")], "there: gone"),
        ([delta(5)], r"ended it \(no reason given\) after 1 of 12 tokens"),
        ([delta(5, 6, finish="length")], r"ended it \(length\) after 2 of 12"),
        ([delta(5, 6, finish="timeout")], r"ended it \(timeout\) after 2 of 12"),
        ([delta(5, 6, finish="cancelled")], r"\(cancelled\) after 2 of 12"),
    ],
)
def test_what_ends_too_early_fails_all_requests(open_on, script, words):
    scripts = {"bad": script, "other": [delta(5), None]}
    source = ScriptedSource(lambda request: scripts[request.id])
    runner = open_on(source)
    runner.submit(ask("other"))
    runner.submit(ask("bad"))
    with pytest.raises(RunError, match=words):
        advance_for_ever(runner)
    while runner.busy:
        assert runner.advance().chunks == ()
    assert sorted(source.closed) == sorted(source.started)
    # and the next one runs
    scripts["new"] = [delta(*range(5, 17), finish="length")]
    assert finish(runner, ask("new"))["new"].finish_reason == "length"


def emitted(runner, count):
    """Advance until so many requests have emitted something; their ids."""
    found = set()
    while len(found) < count:
        found |= {c.request_id for c in runner.advance().chunks if c.tokens}
    return found


def test_no_more_requests_run_than_the_recipe_says(open_on):
    source = ScriptedSource(lambda request: [delta(5), None])
    runner = open_on(source)
    for name in "abc":
        runner.submit(ask(name))
    assert emitted(runner, 2) == {"a", "b"}
    assert source.started == ["a", "b"]
    runner.cancel("a")
    assert emitted(runner, 1) == {"c"}
    assert sorted(source.started) == ["a", "b", "c"]


def test_a_cancelled_request_ends_its_stream(open_on):
    source = ScriptedSource(lambda request: [delta(5, 6), None])
    runner = open_on(source)
    runner.submit(ask("a"))
    runner.submit(ask("b"))
    runner.submit(ask("waits"))
    while not any(c.tokens for c in runner.advance().chunks):
        pass
    for name in ("a", "b", "waits", "unknown"):
        runner.cancel(name)
    found = runner.advance().chunks
    assert {c.request_id for c in found} >= {"a", "b", "waits"}
    assert {c.completion.finish_reason for c in found} == {"cancelled"}
    while runner.busy:
        runner.advance()
    assert sorted(source.closed) == sorted(source.started)
    assert "waits" not in source.started


def test_closing_ends_streams_and_source_and_refuses_more(open_on):
    source = ScriptedSource(lambda request: [delta(5), None])
    runner = open_on(source)
    runner.submit(ask())
    while not runner.advance().chunks:
        pass
    runner.close()
    runner.close()
    assert source.closed == ["r"]
    assert source.is_closed
    with pytest.raises(RunError, match="closed"):
        runner.submit(ask("other"))


@pytest.mark.parametrize(
    ("request_", "method", "words"),
    [
        (ask(prompt=()), "none", "no tokens"),
        (ask(tokens=99), "none", "limits.max_total_tokens = 60"),
        (ask(speculate=False), "eagle3", "drafts for every request"),
        (ask(controls={"min_tokens": 3}), "eagle3", "drops it silently"),
        (ask(controls={"min_token": 3}), "none", "did you mean min_tokens"),
    ],
)
def test_nothing_is_sent_of_a_request_that_is_refused(open_on, request_, method, words):
    source = ScriptedSource(whole)
    runner = open_on(source, method)
    with pytest.raises(UsageError, match=words):
        runner.submit(request_)
    assert not runner.busy
    assert runner.advance().chunks == ()
    assert source.started == []


def test_an_id_that_runs_is_refused(open_on):
    runner = open_on(ScriptedSource(whole))
    runner.submit(ask(tokens=10))
    with pytest.raises(UsageError, match="already"):
        runner.submit(ask(tokens=10))


def test_conditions_say_release_reuse_and_what_is_counted(open_on):
    said = open_on(ScriptedSource(whole), "eagle3").conditions()
    assert said["backend"] == "pytorch"
    assert said["tensorrt_llm"] == "1.2.1"
    assert said["kv_cache_block_reuse"] is True
    assert said["drafted_tokens_known"] is False
    off = open_on(ScriptedSource(whole), pytorch={"block_reuse": False})
    assert off.conditions()["drafted_tokens_known"] is True
    assert not off.caches_prompts
