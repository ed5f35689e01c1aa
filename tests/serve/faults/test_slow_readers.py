"""Clients that read slowly, or never, while others want answers."""

from __future__ import annotations

import contextlib
import socket
import threading

from tests.serve.faults.rig import (
    ask,
    connect,
    memory,
    port_of,
    request_bytes,
    require_answers,
    require_empty,
    toy_server,
)
from tests.serve.serving import until

BLOCKS = 1000
SECONDS = 0.5
"""That a client may leave bytes unread."""


def deaf_client(server, *bodies):
    """A client with the smallest of buffers that never reads."""
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
    connection.connect(("127.0.0.1", port_of(server)))
    connection.sendall(b"".join(bodies))
    return connection


def small_send_buffers(monkeypatch):
    """Have the system take little, so that the server is left with its answers."""
    from trtspec.serve.http.connections import BoundedProtocol

    usual = BoundedProtocol.connection_made

    def made(self, transport):
        peer = transport.get_extra_info("socket")
        peer.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        usual(self, transport)

    monkeypatch.setattr(BoundedProtocol, "connection_made", made)


def open_connections(server):
    """Ends at the server that are not closed."""
    import psutil

    port = port_of(server)
    found = psutil.Process().net_connections("tcp")
    return [c for c in found if c.laddr.port == port and c.status != "LISTEN"]


def wordy(stream):
    """A request whose answer is longer than what the system buffers here."""
    return request_bytes(
        ask(200, n=4, stream=stream, logprobs=20, temperature=1, return_token_ids=True)
    )


def test_a_stream_nobody_reads_is_dropped_and_slows_nobody(model, monkeypatch):
    small_send_buffers(monkeypatch)
    with toy_server(model, limits={"write_seconds": SECONDS}) as (server, runner):
        deaf = [deaf_client(server, wordy(True)) for _ in range(3)]
        require_answers(server)
        # generated at the engine's pace, not at the reader's, or given up
        require_empty(server, runner)
        until(lambda: not open_left(server))
        for connection in deaf:
            connection.close()
        require_answers(server)
    gone = [line for line in server.lines if '"outcome": "gone"' in line]
    assert len(gone) == 3


def open_left(server):
    return len(open_connections(server))


def test_an_unstreamed_answer_that_nobody_reads_is_dropped(model, monkeypatch):
    small_send_buffers(monkeypatch)
    with toy_server(model, limits={"write_seconds": SECONDS}) as (server, runner):
        deaf = deaf_client(server, wordy(False))
        until(lambda: runner.requests)
        require_empty(server, runner)
        until(lambda: not open_left(server))
        require_answers(server)
        deaf.close()


def test_answers_pile_up_for_no_client(model, monkeypatch):
    """Thousands of requests on one connection, and not one answer is read."""
    small_send_buffers(monkeypatch)
    with toy_server(model, limits={"write_seconds": SECONDS}) as (server, _):
        require_answers(server)
        before = memory()
        block = b"GET /openapi.json HTTP/1.1\r\nhost: test\r\n\r\n" * 1000
        connection = deaf_client(server)
        connection.settimeout(SECONDS)
        sent = 0
        with contextlib.suppress(OSError):
            for _ in range(BLOCKS):
                sent += connection.send(block)
        with connection:
            until(lambda: not open_left(server))
            assert memory() - before < 20e6
            require_answers(server)
        assert sent < BLOCKS * len(block), "the server read on and on"


def test_a_slow_reader_gets_everything(model, monkeypatch):
    small_send_buffers(monkeypatch)
    with toy_server(model, limits={"write_seconds": SECONDS}) as (server, _):
        slow = deaf_client(server, wordy(True))
        slow.settimeout(20)
        pause, got = threading.Event(), b""
        while b"data: [DONE]" not in got:
            part = slow.recv(8192)
            assert part, got[-200:]
            got += part
            pause.wait(0.005)
        slow.close()
    assert '"outcome": "ok"' in server.lines[0]


def test_connections_of_the_server_can_be_seen(model):
    """Else the waits above would be for nothing."""
    with toy_server(model) as (server, _):
        with connect(server):
            until(lambda: open_left(server) == 1)
        until(lambda: open_left(server) == 0)
