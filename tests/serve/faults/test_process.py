"""``trtspec serve`` under signals, with a full disk, and with nobody to talk to."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import psutil
import pytest

from tests.serve.faults.process import process, write_project
from tests.serve.faults.rig import ask
from tests.serve.serving import events, until

pytestmark = pytest.mark.slow
LONG = 100
CLIENTS = 8


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    return write_project(tmp_path_factory.mktemp("process"))


def long_one(server, number):
    return server.post(**ask(LONG, stream=number % 2 == 0, temperature=1, seed=number))


def metric(server, name):
    for line in server.get("/metrics").text.splitlines():
        if line.startswith(f"trtspec:{name}{{"):
            return float(line.rpartition(" ")[2])
    return 0.0


def inside(server):
    return metric(server, "num_requests_running") + metric(
        server, "num_requests_waiting"
    )


def tokens_of(answer):
    """How many tokens an answer has, whole or streamed; it must be complete."""
    assert answer.status_code == 200, answer.text
    if "event-stream" not in answer.headers["content-type"]:
        return answer.json()["usage"]["completion_tokens"]
    found = events(answer.text)
    assert found[-1] == "[DONE]"
    choices = [json.loads(event)["choices"][0] for event in found[:-1]]
    assert choices[-1]["finish_reason"] == "length"
    return len("".join(choice["text"] for choice in choices).split())


def test_sigterm_under_load_loses_nothing_that_was_accepted(project):
    patient = ("--max-waiting", "40", "--grace", "110")
    with process(project, *patient) as server, ThreadPoolExecutor(20) as pool:
        server.ready()
        accepted = [pool.submit(long_one, server, n) for n in range(CLIENTS)]
        until(lambda: inside(server) == CLIENTS)
        server.signal()
        until(lambda: server.get("/ready").status_code == 503)
        late = [pool.submit(long_one, server, n) for n in range(4)]
        refused = [one.result() for one in late]
        answers = [one.result() for one in accepted]
        assert server.code() == 0, server.said
    assert [tokens_of(answer) for answer in answers] == [LONG] * CLIENTS
    for answer in refused:
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "draining"
        assert answer.headers["retry-after"]
        assert answer.headers["connection"] == "close"
    log = [json.loads(line) for line in server.errors if line.startswith("{")]
    assert sum(line["outcome"] == "ok" for line in log) == CLIENTS
    assert sum(line["outcome"] == "refused" for line in log) == 4


def test_a_second_sigterm_ends_them_at_once_and_tells_them(project):
    with process(project) as server, ThreadPoolExecutor(CLIENTS) as pool:
        server.ready()
        accepted = [pool.submit(long_one, server, n) for n in range(CLIENTS)]
        until(lambda: inside(server) == CLIENTS)
        server.signal()
        until(lambda: server.get("/ready").status_code == 503)
        server.signal()
        answers = [one.result() for one in accepted]
        assert server.code() == 0, server.said
    told = [a for a in answers if "server ends" in a.text]
    whole = [a for a in answers if a not in told]
    assert told
    assert all(a.status_code in (200, 503) for a in told)
    assert [tokens_of(answer) for answer in whole] == [LONG] * len(whole)
    assert "another signal" in server.said


def test_grace_that_runs_out_ends_them_too(project):
    with process(project, "--grace", "0.2") as server, ThreadPoolExecutor(12) as pool:
        server.ready()
        accepted = [pool.submit(long_one, server, n) for n in range(CLIENTS)]
        until(lambda: inside(server) == CLIENTS)
        server.signal()
        answers = [one.result() for one in accepted]
        assert server.code() == 0, server.said
    assert any("server ends" in answer.text for answer in answers)
    assert "not done in time" in server.said


def test_sigkill_leaves_nothing_behind(project):
    with process(project) as server, ThreadPoolExecutor(2) as pool:
        port = int(server.ready().rpartition(":")[2])
        children = psutil.Process(server.pid).children(recursive=True)
        asked = pool.submit(long_one, server, 0)
        until(lambda: inside(server))
        server.signal(signal.SIGKILL)
        with pytest.raises(httpx.TransportError):
            tokens_of(asked.result())
        assert server.code() == -signal.SIGKILL
    assert not [child for child in children if child.is_running()]
    with socket.socket() as again:  # without SO_REUSEADDR it is refused for a while
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))
    with process(project, "--port", str(port)) as server:
        server.ready()
        assert server.post(**ask(3)).status_code == 200
        server.signal(signal.SIGINT)
        assert server.code() == 130


def test_a_port_that_is_taken_is_told(project):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with process(project, "--port", port) as server:
            assert server.code() == 2
    assert "in use" in server.said


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_loses_the_log_and_no_request(project):
    with process(project, "--request-log", "/dev/full") as server:
        server.ready()
        for _ in range(3):
            assert server.post(**ask(3)).status_code == 200
        assert server.get("/health").status_code == 200
        server.signal()
        assert server.code() == 0
    assert server.said.count("the request log cannot be written") == 1
    assert "Traceback" not in server.said


def test_a_log_goes_on_when_there_is_room_again(project, tmp_path):
    log = tmp_path / "requests.log"
    with process(project, "--request-log", log) as server:
        server.ready()
        for _ in range(3):
            assert server.post(**ask(3)).status_code == 200
        server.signal()
        assert server.code() == 0
    assert [json.loads(line)["status"] for line in log.read_text().splitlines()] == [
        *(200, 200, 200)
    ]


def test_it_serves_on_when_nobody_reads_its_output(project):
    """Both pipes are closed, as when the terminal or its supervisor has gone."""
    reading, writing = os.pipe()
    with process(project, stderr=writing) as server:
        os.close(writing)
        server.ready()
        server.stdout.close()
        os.close(reading)  # the next line of its log meets a broken pipe
        for _ in range(3):
            assert server.post(**ask(3)).status_code == 200
        assert server.get("/health").status_code == 200
        server.signal()
        assert server.code() == 0


def test_its_first_line_meets_a_closed_output(project):
    """What waited for it has gone before it was ready.

    An interpreter that cannot flush at its end gives a code of its own.
    """
    port = str(free_port())
    with process(project, "--port", port, anew=True) as server:
        server.stdout.close()
        server.url = f"http://127.0.0.1:{port}"
        until(lambda: is_ready(server), 120)
        assert server.post(**ask(3)).status_code == 200
        server.signal()
        assert server.code() == 0, server.said


def is_ready(server):
    time.sleep(0.05)
    try:
        return server.get("/ready").status_code == 200
    except httpx.TransportError:
        return False


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]
