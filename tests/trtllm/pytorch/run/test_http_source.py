"""Requests over HTTP: what is sent, what is read, and how each failure ends."""

from __future__ import annotations

import gc

import pytest
from packaging.version import Version

from tests.trtllm.pytorch.run.artifacts import SERVED
from tests.trtllm.pytorch.run.fakes import ask, chunks, finish
from tests.trtllm.pytorch.run.tiny_server import (
    BREAK,
    DONE,
    WAIT,
    TinyServer,
    event,
    sse,
    usage,
)
from trtspec.errors import RunError
from trtspec.trtllm.pytorch.run.http_source import HttpSource


@pytest.fixture
def server():
    server = TinyServer()
    yield server
    server.close()


@pytest.fixture
def open_http(server, open_on):
    def open_one(method="none", **options):
        source = HttpSource(server.url, SERVED, Version("1.2.1"), {1}, **options)
        return open_on(source, method)

    return open_one


WHOLE = [
    event(5, avg_decoded_tokens_per_iter=1.0),
    event(6, 7, 8, avg_decoded_tokens_per_iter=2.0),
    event(9, 10, finish_reason="length", avg_decoded_tokens_per_iter=2.0),
    usage(6),
    DONE,
]


def test_several_tokens_in_an_event_are_one_chunk(server, open_http):
    server.script = lambda body: WHOLE
    found = chunks(open_http("eagle3"), ask(tokens=6))
    assert [c.tokens for c in found] == [(5,), (6, 7, 8), (9, 10)]
    done = found[-1].completion
    assert done.text == "w5 w6 w7 w8 w9 w10"
    assert (done.steps, done.accepted, done.drafted) == (2, 3, 0)


def test_the_server_is_asked_for_token_ids_of_token_ids(server, open_http):
    server.script = lambda body: WHOLE
    finish(open_http(), ask(tokens=6))
    (body,) = server.asked
    assert body["prompt"] == [3, 9, 4]
    assert (body["detokenize"], body["stream"], body["temperature"]) == (False, True, 0)


def test_parts_of_an_event_may_come_apart(server, open_http):
    text = "".join(WHOLE)
    server.script = lambda body: [text[i : i + 7] for i in range(0, len(text), 7)]
    assert finish(open_http(), ask(tokens=6))["r"].tokens == [5, 6, 7, 8, 9, 10]


def test_a_stop_string_leaves_the_server(server, open_http):
    server.script = lambda body: [event(5, 6), event(7, 8), WAIT]
    done = finish(open_http(), ask(stop=("w7",)))["r"]
    assert (done.text, done.finish_reason) == ("w5 w6 ", "stop")
    assert server.gone.wait(5)


def test_a_cancelled_request_leaves_the_server(server, open_http):
    server.script = lambda body: [event(5, 6), WAIT]
    runner = open_http()
    runner.submit(ask())
    while not runner.advance().chunks:
        pass
    runner.cancel("r")
    (chunk,) = runner.advance().chunks
    assert chunk.completion.finish_reason == "cancelled"
    assert server.gone.wait(5)


def test_closing_the_runner_leaves_the_server(server, open_http):
    server.script = lambda body: [event(5, 6), WAIT]
    runner = open_http()
    runner.submit(ask())
    while not runner.advance().chunks:
        pass
    runner.close()
    assert server.gone.wait(5)


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ([event(5), BREAK], "request r: POST /v1/completions failed"),
        ([event(5)], "broke off the stream after 1 tokens"),
        ([event(5), DONE], r"ended it \(no reason given\)"),
        ([event(5), sse({"error": "out of memory"})], "failed: out of memory"),
        ([event(5, finish_reason="length"), DONE], r"\(length\) after 1 of 12"),
        (
            [event(*range(5, 17), finish_reason="length"), usage(13), DONE],
            "generated 13 tokens and sent 12",
        ),
        (["data: <html>\n\n"], "no event of a completion"),
    ],
)
def test_a_stream_that_fails_says_how(server, open_http, script, words):
    server.script = lambda body: script
    with pytest.raises(RunError, match=words):
        finish(open_http(), ask())


def test_a_server_that_dies_ends_all_requests(server, open_http):
    scripts = {5: [event(5), BREAK], 6: [event(6), WAIT]}
    server.script = lambda body: scripts[body["prompt"][0]]
    runner = open_http()
    runner.submit(ask("waits", prompt=(6,)))
    with pytest.raises(RunError, match="request dies: POST"):
        finish(runner, ask("dies", prompt=(5,)))
    while runner.busy:
        runner.advance()
    assert server.gone.wait(5)


@pytest.mark.parametrize(
    ("status", "content"),
    [(400, {"error": "too long"}), (422, {"detail": "too long"}), (500, "too long")],
)
def test_a_refusal_is_told_with_the_servers_words(server, open_http, status, content):
    server.refusal = status, content
    with pytest.raises(RunError, match=f"request r: .*status {status}: too long"):
        finish(open_http(), ask())


def test_no_server_is_told_with_what_to_do(open_on):
    server = TinyServer()
    server.close()
    runner = open_on(HttpSource(server.url, SERVED, Version("1.2.1"), ()))
    with pytest.raises(RunError, match=r"POST /v1/completions[\s\S]*GET /health"):
        finish(runner, ask())


@pytest.mark.parametrize("left", [False, True])
def test_nothing_is_left_that_python_complains_about(
    server, open_on, caplog, capfd, left
):
    server.script = lambda body: [event(5), WAIT] if body["prompt"] == [7] else WHOLE
    for _ in range(8):
        runner = open_on(HttpSource(server.url, SERVED, Version("1.2.1"), {1}))
        if left:
            runner.submit(ask("left", (7,)))
            while not runner.advance().chunks:
                pass
        else:
            finish(runner, ask(tokens=6))
        runner.close()
    gc.collect()
    assert caplog.text == ""
    assert capfd.readouterr().err == ""
