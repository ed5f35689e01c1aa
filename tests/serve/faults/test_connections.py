"""Connections: too many, too slow, several requests on one, other kinds of HTTP."""

from __future__ import annotations

import json
import selectors
import socket
import time

import pytest

from tests.serve.faults.rig import (
    MANY,
    ask,
    connect,
    descriptors,
    everything,
    memory,
    port_of,
    request_bytes,
    require_answers,
    require_empty,
    say,
    status_of,
    toy_server,
)
from tests.serve.serving import until


@pytest.fixture(scope="module")
def plain(model):
    """A server with the usual limits, for tests that leave it as it is."""
    with toy_server(model) as pair:
        yield pair


GET = b"GET /v1/models HTTP/1.1\r\nhost: test\r\n\r\n"


def read_answer(connection):
    """One answer with a content-length: its head and its body."""
    got = b""
    while b"\r\n\r\n" not in got:
        part = connection.recv(1)
        assert part, got
        got += part
    size = int(got.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
    body = b""
    while len(body) < size:
        body += connection.recv(size - len(body))
    return got, body


# too many


def test_a_connection_too_many_is_turned_away_and_told_why(model):
    with toy_server(model, limits={"connections": 5}) as (server, _):
        kept = [connect(server) for _ in range(5)]
        until(lambda: answers_503(server))
        for connection in kept:  # those that came in time are served
            connection.sendall(GET)
            assert status_of(connection.recv(100)) == 200
            connection.close()
        until(lambda: not answers_503(server))
        require_answers(server)


def answers_503(server):
    with connect(server) as connection:
        connection.sendall(GET.replace(b"host", b"connection: close\r\nhost"))
        answer = everything(connection)
    if status_of(answer) == 200:
        return False
    assert status_of(answer) == 503
    assert b"retry-after: 1\r\n" in answer
    error = json.loads(answer.partition(b"\r\n\r\n")[2])["error"]
    assert error["code"] == "connections"
    return True


class Crowd:
    """Clients that all connect at once; each says the same and reads one answer."""

    def __init__(self, server, count, data):
        self._address, self._data = ("127.0.0.1", port_of(server)), data
        self._selector = selectors.DefaultSelector()
        self.statuses: dict[int, int] = {}
        self.most = 0
        self._left = count

    def run(self, seconds):
        """Connect, send, read; give how many got which status; 0 for no answer."""
        end = time.monotonic() + seconds
        for _ in range(self._left):
            self._open()
        while self._left and time.monotonic() < end:
            for key, _ in self._selector.select(0.1):
                self._serve(key)
        for key in list(self._selector.get_map().values()):
            self._close(key.fileobj, -1)
        self._selector.close()
        return self.statuses

    def _open(self):
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex(self._address)
        self._selector.register(one, selectors.EVENT_WRITE, "connecting")
        self.most = max(self.most, len(self._selector.get_map()))

    def _serve(self, key):
        one = key.fileobj
        try:
            if key.data == "connecting":
                one.send(self._data)
                self._selector.modify(one, selectors.EVENT_READ, "reading")
                return
            answer = one.recv(64)
        except OSError:
            # what was turned away may have closed before all was sent; its words are
            # there all the same
            answer = self._last_words(one)
        self._close(one, status_of(answer) if answer else 0)

    def _last_words(self, one):
        try:
            return one.recv(64)
        except OSError:
            return b""

    def _close(self, one, status):
        self._selector.unregister(one)
        one.close()
        self.statuses[status] = self.statuses.get(status, 0) + 1
        self._left -= 1


def test_a_crowd_is_bounded_and_leaves_nothing(model):
    """10,000 at once: TRTSPEC_FAULTS=10000, as far as there are file descriptors.

    Both ends are in this process, which needs a descriptor for each of the clients.
    """
    count, most = MANY or 600, 100
    with toy_server(model, limits={"connections": most, "waiting": 20}) as (
        server,
        runner,
    ):
        data = request_bytes(ask(2), headers=["connection: close"])
        Crowd(server, 200, data).run(60)
        require_empty(server, runner)
        files, before = descriptors(), memory()
        crowd = Crowd(server, count, data)
        statuses = crowd.run(240)
        require_empty(server, runner)
        until(lambda: descriptors() <= files)
        grown = memory() - before
        say(f"{count} connects, {crowd.most} at once: {statuses}, {grown / 1e6:.1f} MB")
        assert sum(statuses.values()) == count
        assert set(statuses) <= {0, 200, 429, 503}
        assert statuses[200] > 0
        assert statuses[503] > statuses[200]
        assert statuses.get(0, 0) < count / 20
        assert grown < 40e6
        require_answers(server)
    assert server.error is None


def test_others_are_served_beside_a_crowd_that_only_connects(model):
    """10,000 that send nothing: TRTSPEC_FAULTS=10000."""
    count = MANY or 600
    limits = {"connections": 200, "head_seconds": 2.0}
    with toy_server(model, limits=limits) as (server, _):
        files = descriptors()
        silent = []
        for _ in range(count):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port_of(server)))
            silent.append(one)
        # while they fill it others are told so; then they are shown the door
        until(lambda: is_served(server), 60)
        for one in silent:
            one.close()
        until(lambda: descriptors() <= files)


def is_served(server):
    with server.client() as client:
        answer = client.post("/v1/completions", json=ask(4))
    assert answer.status_code in (200, 503)
    return answer.status_code == 200


# too slow


def test_a_head_that_drips_is_given_up(model):
    with toy_server(model, limits={"head_seconds": 0.5}) as (server, _):
        connections = [connect(server) for _ in range(20)]
        began = time.monotonic()
        for place in range(15):
            for connection in connections:
                try:
                    connection.sendall(
                        b"GET /v1/models HTTP/1.1\r\n"[place : place + 1]
                    )
                except OSError:
                    continue
            time.sleep(0.05)
        assert all(everything(connection) == b"" for connection in connections)
        assert time.monotonic() - began < 10
        require_answers(server)


def test_a_connection_that_says_nothing_is_given_up(model):
    limits = {"head_seconds": 0.5}
    with toy_server(model, limits=limits) as (server, _), connect(server) as silent:
        assert everything(silent) == b""


def test_an_answer_may_take_longer_than_a_head(model):
    with toy_server(model, pause=0.05, limits={"head_seconds": 0.5}) as (server, _):
        with server.client() as client:
            answer = client.post("/v1/completions", json=ask(60))
        assert answer.json()["usage"]["completion_tokens"] == 60


@pytest.mark.parametrize("junk", [b"\x16\x03\x01\x02\x00", b"GET\r\n\r\n", b"\0" * 99])
def test_what_is_no_http_is_told_so(plain, junk):
    server, _ = plain
    with connect(server) as connection:
        connection.sendall(junk + b"\r\n\r\n")
        answer = everything(connection)
    assert status_of(answer) == 400
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["error"]["code"] == "no_http"


def test_a_head_without_end_is_refused(plain):
    server, _ = plain
    with connect(server) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nx: " + b"y" * 200_000)
        assert status_of(everything(connection)) == 400
    require_answers(server)


def test_a_chunk_that_is_none_ends_the_request(plain):
    server, runner = plain
    head = request_bytes(b"").replace(b"content-length: 0", b"x: y").rstrip()
    with connect(server) as connection:
        connection.sendall(head + b"\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n")
        assert status_of(everything(connection)) == 400
    require_empty(server, runner)
    require_answers(server)


# several requests on one connection


def test_pipelined_requests_are_answered_in_order(plain):
    server, _ = plain
    with connect(server) as connection:
        asked = [GET, request_bytes(ask(3)), GET, request_bytes(ask(5)), GET]
        connection.sendall(b"".join(asked))
        answers = [read_answer(connection)[1] for _ in asked]
    found = [json.loads(answer) for answer in answers]
    assert [answer["object"] for answer in found] == [
        *("list", "text_completion", "list", "text_completion", "list")
    ]
    assert found[1]["usage"]["completion_tokens"] == 3
    assert found[3]["usage"]["completion_tokens"] == 5


def test_a_refused_request_is_not_taken_for_the_next_ones_body(plain):
    """The body of what was refused unread is no request of its own."""
    server, _ = plain
    smuggled, before = request_bytes(ask(1)), len(server.lines)
    with connect(server) as connection:
        refused = request_bytes(smuggled, path="/v1/nothing")
        connection.sendall(refused + GET)
        assert status_of(read_answer(connection)[0]) == 404
        assert json.loads(read_answer(connection)[1])["object"] == "list"
    until(lambda: len(server.lines) == before + 2)


# other kinds of HTTP


def test_http_1_0_gets_a_whole_answer_and_an_end(plain):
    server, _ = plain
    with connect(server) as connection:
        connection.sendall(request_bytes(ask(3), version="1.0"))
        answer = everything(connection)
    assert (
        json.loads(answer.partition(b"\r\n\r\n")[2])["usage"]["completion_tokens"] == 3
    )


def test_http_1_0_gets_a_stream_without_chunks(plain):
    server, _ = plain
    with connect(server) as connection:
        connection.sendall(request_bytes(ask(3, stream=True), version="1.0"))
        head, _, body = everything(connection).partition(b"\r\n\r\n")
    assert b"chunked" not in head.lower()
    assert body.startswith(b"data: {")
    assert body.endswith(b"data: [DONE]\n\n")


@pytest.mark.parametrize("path", ["/health", "/ready", "/metrics", "/v1/models"])
def test_head_is_get_without_a_body(plain, path):
    server, _ = plain
    with server.client() as client:
        whole, head = client.get(path), client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-type"] == whole.headers["content-type"]


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "DELETE", "TRACE", "PATCH", "X"])
@pytest.mark.parametrize("path", ["/v1/completions", "/v1/models", "/health"])
def test_other_methods_are_told_which_there_are(plain, method, path):
    server, _ = plain
    with server.client() as client:
        answer = client.request(method, path)
    assert answer.status_code == 405
    assert answer.headers["allow"]
    assert method in answer.json()["error"]["message"]


def test_an_upgrade_is_not_taken(plain):
    server, _ = plain
    with server.client() as client:
        headers = {"connection": "upgrade", "upgrade": "websocket"}
        assert client.get("/v1/models", headers=headers).status_code == 200
