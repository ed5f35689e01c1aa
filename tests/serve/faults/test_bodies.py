"""Bodies that are too long, come too slowly, or are no request."""

from __future__ import annotations

import contextlib
import json
import time

import httpx
import pytest

from tests.serve.faults.rig import (
    ask,
    connect,
    everything,
    memory,
    request_bytes,
    require_answers,
    require_empty,
    status_of,
    toy_server,
)
from tests.serve.serving import until

MOST = 100_000
LIMITS = {"body_bytes": MOST, "head_seconds": 1.0}
JSON_TYPE = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def server(model):
    with toy_server(model, limits=LIMITS) as (server, _):
        yield server


def post(server, content, path="/v1/completions"):
    with server.client() as client:
        return client.post(path, content=content, headers=JSON_TYPE)


def refusal(answer):
    """The error document of an answer, which has nothing else."""
    document = answer.json()
    assert set(document) == {"error"}
    assert set(document["error"]) == {"message", "type", "param", "code"}
    assert document["error"]["message"]
    return document["error"]


def pieces(total, size=10_000):
    for _ in range(total // size):
        yield b" " * size


@pytest.mark.parametrize("length", [MOST + 1, 20 * MOST])
def test_a_body_that_says_it_is_too_long_is_refused(server, length):
    answer = post(server, b" " * length)
    assert answer.status_code == 413
    assert refusal(answer)["code"] == "body_too_large"
    assert answer.headers["connection"] == "close"
    require_answers(server)


def test_it_is_refused_before_it_is_sent(server):
    """A client that waits for leave, as curl does, need not send any of it."""
    data = request_bytes(b"", headers=["expect: 100-continue"])
    data = data.replace(b"content-length: 0", b"content-length: 99999999")
    with connect(server) as connection:
        connection.sendall(data)
        assert status_of(everything(connection)) == 413


def test_a_body_in_chunks_is_refused_as_soon_as_it_is_too_long(server):
    answer = post(server, pieces(10 * MOST))
    assert answer.status_code == 413
    require_answers(server)


def test_a_body_without_end_costs_no_memory(model):
    with toy_server(model, limits=LIMITS) as (server, _):
        require_answers(server)
        before = memory()
        # it is told, unless the connection ends under what is still sent
        with contextlib.suppress(httpx.TransportError):
            assert post(server, pieces(10**10)).status_code == 413
        assert memory() - before < 10e6
        require_answers(server)


def test_a_body_of_just_the_allowed_length_is_read(server):
    text = json.dumps(ask(2))
    answer = post(server, text + " " * (MOST - len(text)))
    assert answer.status_code == 200


def test_a_body_that_does_not_come_is_given_up(server):
    began = time.monotonic()
    with connect(server) as connection:
        connection.sendall(request_bytes(ask())[:-5])
        answer = everything(connection)
    assert status_of(answer) == 408
    assert time.monotonic() - began < 10
    require_answers(server)


def test_a_body_that_drips_is_given_up(server):
    """Each byte in time, but not all of them."""
    data = request_bytes(ask())
    with connect(server) as connection:
        connection.sendall(data[:-60])
        connection.settimeout(0.1)
        for place in range(60):
            connection.sendall(data[len(data) - 60 + place :][:1])
            try:
                answer = connection.recv(65536)
                break
            except TimeoutError:
                pass
        else:
            pytest.fail("it was waited for")
    assert status_of(answer) == 408


GOOD = '"model":"toy","prompt":"w3","max_tokens":2'
NO_JSON = {
    "nothing": b"",
    "half": b'{"model"',
    "two": b"{}{}",
    "a comma": b'{"model":"toy",}',
    "deep": b"[" * 90_000,
    "deep inside": b'{"metadata":' + b'{"a":' * 9_000 + b"1" + b"}" * 9_000 + b"}",
    "no utf-8": b'{"model":"toy","prompt":"\xff\xfe"}',
    "utf-16": json.dumps(ask()).encode("utf-16"),
    "half a pair": b'{"model":"toy","prompt":"\\ud800"}',
    "half a pair as a name": b'{"\\udfff":1}',
    "a long number": b'{"seed":' + b"9" * 9_000 + b"}",
    "zero bytes": b"\0" * 100,
    "gzip": bytes.fromhex("1f8b08000000000000ff") + b"\x01" * 50,
}


@pytest.mark.parametrize("body", NO_JSON.values(), ids=NO_JSON)
@pytest.mark.parametrize("path", ["/v1/completions", "/v1/chat/completions"])
def test_what_is_no_json_is_refused(server, body, path):
    answer = post(server, body, path)
    assert answer.status_code == 400
    assert "JSON" in refusal(answer)["message"]


NO_REQUEST = {
    "null": "null",
    "a list": "[]",
    "a text": '"w3"',
    "a number": "5",
    "no model": '{"prompt":"w3"}',
    "infinite": f'{{{GOOD},"temperature":1e999}}',
    "not a number": f'{{{GOOD},"temperature":NaN}}',
    "minus infinite": f'{{{GOOD},"top_p":-Infinity}}',
    "too large": f'{{{GOOD},"seed":{"9" * 400}}}',
    "a huge count": f'{{{GOOD},"n":1e300}}',
    "a broken count": f'{{{GOOD},"n":1.5}}',
    "a text for a number": f'{{{GOOD},"temperature":"0"}}',
    "a number for a flag": f'{{{GOOD},"stream":1}}',
    "an object for a text": '{"model":"toy","prompt":{}}',
    "a long unknown name": f'{{{GOOD},"{"k" * 50_000}":1}}',
    "many unknown names": json.dumps(ask() | {f"k{i}": 1 for i in range(5000)}),
    "a negative token": '{"model":"toy","prompt":[-1]}',
    "an unknown token": '{"model":"toy","prompt":[48]}',
    "a huge token": f'{{"model":"toy","prompt":[{"9" * 300}]}}',
    "mixed prompts": '{"model":"toy","prompt":["w3",[3]]}',
    "many wrong prompts": f'{{"model":"toy","prompt":[{",".join(["[]"] * 30_000)}]}}',
    "many wrong tokens": f'{{"model":"toy","prompt":[{",".join(["-1"] * 30_000)}]}}',
}


@pytest.mark.parametrize("body", NO_REQUEST.values(), ids=NO_REQUEST)
def test_what_is_no_request_is_refused_in_few_words(server, body):
    answer = post(server, body)
    assert answer.status_code == 400
    assert len(refusal(answer)["message"]) < 1500


def test_of_a_key_that_comes_twice_the_last_counts(server):
    answer = post(server, f'{{{GOOD},"max_tokens":3}}')
    assert answer.json()["usage"]["completion_tokens"] == 3


@pytest.mark.parametrize("letter", ["\\u0000", "\\ud83d\\ude00", "\\uffff", "\\u202e"])
def test_letters_of_any_kind_are_text(server, letter):
    answer = post(server, f'{{"model":"toy","prompt":"{letter}","max_tokens":2}}')
    assert answer.status_code == 200


LARGEST = {
    "prompts": ('{"model":"toy","prompt":[', '""', "]}"),
    "tokens": ('{"model":"toy","prompt":[', "-1", "]}"),
    "lists of tokens": ('{"model":"toy","prompt":[', "[]", "]}"),
    "parts": ('{"model":"toy","messages":[{"role":"user","content":[', "1", "]}]}"),
    "messages": ('{"model":"toy","messages":[', "1", "]}"),
    "stops": ('{"model":"toy","messages":[],"stop":[', "1", "]}"),
}


@pytest.mark.parametrize(("begin", "item", "end"), LARGEST.values(), ids=LARGEST)
def test_a_body_full_of_faults_costs_little_memory(model, begin, item, end):
    """Each fault is noted once it is known that there is one, not a million times."""
    with toy_server(model, limits={"body_bytes": 4_000_000}) as (server, runner):
        require_answers(server)
        count = 3_900_000 // (len(item) + 1)
        body = begin + ",".join([item] * count) + end
        before = memory()
        path = "/v1/chat/completions" if "messages" in begin else "/v1/completions"
        assert post(server, body, path).status_code == 400
        assert memory() - before < 200e6
        require_empty(server, runner)


def test_the_log_says_what_was_wrong_and_quotes_nothing(server):
    secret = "w7secret"
    bodies = [
        f'{{"model":"toy","prompt":{{"a":"{secret}"}}}}',
        f'{{"model":"toy","prompt":"{secret}"',
        f'{{"model":"toy","messages":"{secret}"}}',
    ]
    before = len(server.lines)
    for body in bodies:
        assert post(server, body).status_code == 400
    until(lambda: len(server.lines) == before + 3)  # written behind the answer
    lines = server.lines[before:]
    assert all('"reason": "' in line and secret not in line for line in lines)


def test_bodies_that_arrive_together_are_bounded(model):
    with toy_server(model, limits={"held_bytes": 3000}) as (server, runner):
        with connect(server) as slow:
            slow.sendall(request_bytes(b" " * 2500)[:-1])  # its last byte is missing
            content = json.dumps(ask(4)).ljust(1000).encode()
            until(lambda: post(server, content).status_code == 429)
            answer = post(server, content)
            assert refusal(answer)["code"] == "bodies_full"
            assert answer.headers["retry-after"] == "1"
        until(lambda: post(server, content).status_code == 200)
        require_empty(server, runner)
        require_answers(server)
