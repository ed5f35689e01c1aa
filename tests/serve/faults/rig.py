"""Toy servers for fault tests, raw connections, and what a process holds."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import socket
import sys
import threading
import time

import psutil
import pytest

from tests.reference.artifacts import recipe
from tests.serve.serving import MODEL, PATIENCE, runner_of, served, until
from trtspec.serve.limits import ServeLimits

MANY = int(os.environ.get("TRTSPEC_FAULTS", "0"))
"""How many clients, in place of the small numbers that the tests are content with."""
SIZES = {"max_batch_size": 4, "max_input_tokens": 64, "max_total_tokens": 240}


class Paced:
    """A runner whose steps take time, or wait for a gate; else the one inside."""

    def __init__(self, runner, pause=0.0):
        self._runner, self.pause = runner, pause
        self.gate = threading.Event()
        self.gate.set()
        self.steps = 0

    def __getattr__(self, name):
        return getattr(self._runner, name)

    def advance(self):
        self.gate.wait()
        if self.pause:
            time.sleep(self.pause)
        self.steps += 1
        return self._runner.advance()

    @property
    def requests(self):
        """How many the engine knows of."""
        queue = self._runner.engine.queue
        return len(queue.running) + len(queue.waiting)


@contextlib.contextmanager
def toy_server(model, *, pause=0.0, limits=None, **options):
    """Serve a paced toy; give the server and its runner."""
    sizes = SIZES | {key: options.pop(key) for key in set(SIZES) & set(options)}
    made = recipe({"method": "ngram", "draft_length": 3}, **sizes)
    runner = Paced(runner_of(made, model), pause)
    chosen = ServeLimits(**(limits or {}))
    with served(runner, made, limits=chosen, **options) as server:
        try:
            yield server, runner
        finally:
            runner.gate.set()


def ask(tokens=8, prompt="w3 w4 w3 w4", **more):
    asked = {"model": MODEL, "prompt": prompt, "max_tokens": tokens, "temperature": 0}
    return asked | {"ignore_eos": True} | more


def port_of(server):
    return int(server.url.rpartition(":")[2])


def connect(server, timeout=PATIENCE):
    return socket.create_connection(("127.0.0.1", port_of(server)), timeout)


def request_bytes(body, *, path="/v1/completions", headers=(), version="1.1"):
    """A POST with a body of JSON, or of any bytes."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = [
        f"POST {path} HTTP/{version}",
        "host: test",
        "content-type: application/json",
        f"content-length: {len(data)}",
        *headers,
    ]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def everything(connection):
    """All bytes until the other side closes; a reset is an end, too."""
    parts = []
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def status_of(answer):
    assert answer.startswith(b"HTTP/1.1 "), answer[:100]
    return int(answer[9:12])


def gauge(server, name, **labels):
    """A metric's value as /metrics tells it."""
    with server.client() as client:
        text = client.get("/metrics").text
    wanted = [f'{key}="{value}"' for key, value in labels.items()]
    for line in text.splitlines():
        if line.startswith(f"trtspec:{name}{{") and all(w in line for w in wanted):
            return float(line.rpartition(" ")[2])
    return None


def finished(server, how):
    return gauge(server, "request_success_total", finished_reason=how) or 0.0


def is_empty(server, runner):
    """Whether nothing of any request is left, in front or in the engine."""
    service = server.service
    return not (service.admission.inside or service.driver.streams or runner.requests)


def require_empty(server, runner):
    """Wait until nothing is left, and see that the gauges say so."""
    until(lambda: is_empty(server, runner))
    assert gauge(server, "num_requests_running") == 0
    assert gauge(server, "num_requests_waiting") == 0


def require_answers(server):
    """See that the server still answers."""
    with server.client() as client:
        answer = client.post("/v1/completions", json=ask(4))
        assert answer.status_code == 200, answer.text
        assert answer.json()["usage"]["completion_tokens"] == 4
        assert client.get("/health").status_code == 200


def say(text):
    """Tell a figure, to who runs the tests with -s."""
    sys.stdout.write(f"{text}\n")


def descriptors():
    return psutil.Process().num_fds()


def memory():
    """Bytes that are this process' own."""
    gc.collect()
    return psutil.Process().memory_full_info().uss


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    from tests.reference.artifacts import write_model

    return write_model(tmp_path_factory.mktemp("faults") / "target")
