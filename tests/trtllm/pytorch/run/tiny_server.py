"""A server of a few lines that streams what a test tells it to."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.trtllm.pytorch.run.artifacts import SERVED

FOUND = 200
WAIT, BREAK = object(), object()
"""In a script: go on when the client is gone; close the connection."""


def event(*tokens: int, **values: Any) -> str:
    """One event with new tokens."""
    choice = {"index": 0, "text": "", "token_ids": list(tokens), "finish_reason": None}
    return sse({"choices": [{**choice, **values}], "usage": None})


def usage(tokens: int) -> str:
    return sse({"choices": [], "usage": {"completion_tokens": tokens}})


def sse(content: Any) -> str:
    return f"data: {json.dumps(content)}\n\n"


DONE = "data: [DONE]\n\n"


class TinyServer:
    """Answers GET from ``pages`` and streams ``script(body)`` to POST.

    :ivar asked: bodies of the POST requests.
    :ivar read: paths of the GET requests.
    :ivar gone: set when a client left a stream that waited.
    """

    def __init__(
        self, script: Callable[[Any], Iterable[Any]] = lambda body: ()
    ) -> None:
        self.script = script
        self.pages: dict[str, Any] = {
            "/version": {"version": "1.2.1"},
            "/v1/models": {"data": [{"id": SERVED}]},
            "/metrics": [],
        }
        self.refusal: tuple[int, Any] | None = None
        self.asked: list[Any] = []
        self.read: list[str] = []
        self.gone = threading.Event()
        handler = type("Handler", (_Handler,), {"told": self})
        self._server = _Quiet(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}
        )
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, *_: Any) -> None:
        """Say nothing: a client that leaves early is usual."""


class _Handler(BaseHTTPRequestHandler):
    told: TinyServer
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.told.read.append(self.path)
        page = self.told.pages.get(self.path)
        self._answer(404 if page is None else 200, page)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.told.asked.append(body)
        if self.told.refusal:
            self._answer(*self.told.refusal)
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for part in self.told.script(body):
            if part is BREAK:
                self.close_connection = True
                return
            if part is WAIT:
                self.connection.recv(1)  # nothing comes any more: it is gone
                self.told.gone.set()
                self.close_connection = True
                return
            self._chunk(part.encode())
        self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _answer(self, status: int, content: Any) -> None:
        is_text = isinstance(content, str) and status == FOUND
        data = (content if is_text else json.dumps(content)).encode()
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Nobody reads it."""
