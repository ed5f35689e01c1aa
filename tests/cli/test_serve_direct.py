"""``trtspec serve --direct`` against the stand-in of trtllm-serve: clean ends."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
from http.client import HTTPConnection
from threading import Thread

import psutil
import pytest

from tests.cli.serving import PROMPT, Place
from tests.trtllm.pytorch.launch.conftest import running_for, wait_until
from trtspec.build.artifact import Artifact
from trtspec.trtllm.pytorch.launch.example import curl_command


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return Place(tmp_path_factory.mktemp("serve"))


@pytest.fixture
def serve(place, tmp_path):
    with place.starting(tmp_path, "--direct") as start:
        yield start


def test_server_is_ready_with_a_canary_and_ends_on_sigterm(serve, place, tmp_path):
    running = serve("--port", "0")
    document = running.ready()
    assert document["model"] == place.artifact.name
    assert document["canary"]["text"].startswith("t")
    assert document["canary"]["tokens"] == 24  # as many as the limits have room for
    assert document["canary"]["tokens_per_step"] > 1
    assert document["lossy"] == []
    assert psutil.pid_exists(document["pid"])
    artifact = Artifact.open(place.artifact)
    example = curl_command(artifact, document["url"], document["model"])
    copied = subprocess.run(
        ["sh", "-c", example], capture_output=True, text=True, check=True
    )
    assert json.loads(copied.stdout)["choices"]
    assert running.end() == 0
    assert "canary: 24 tokens in " in running.said()
    assert running_for(tmp_path) == []


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 129)]
)
def test_other_signals_end_it_as_well(serve, tmp_path, number, code):
    running = serve()
    running.ready()
    assert running.end(number) == code
    assert "Traceback" not in running.said()
    assert running_for(tmp_path) == []


def test_clients_that_leave_do_no_harm_and_those_that_wait_get_their_answer(
    serve, place, tmp_path
):
    running = serve("--port", "0", "--no-canary", STANDIN_PACE="0.05")
    running.ready()
    leaver = HTTPConnection("127.0.0.1", running.address.port, timeout=60)
    body = json.dumps({**PROMPT, "max_tokens": 30, "stream": True})
    leaver.request(
        "POST", "/v1/completions", body, {"Content-Type": "application/json"}
    )
    assert leaver.getresponse().readline().startswith(b"data: ")
    leaver.close()
    assert running.post(max_tokens=3).json()["usage"]["completion_tokens"] == 3

    answers = []
    waiter = Thread(target=lambda: answers.append(running.post(max_tokens=20)))
    before = len(place.standin.events("iteration"))
    waiter.start()
    wait_until(lambda: len(place.standin.events("iteration")) > before, 60)
    assert running.end() == 0
    waiter.join()
    assert answers[0].json()["usage"]["completion_tokens"] == 20
    assert running_for(tmp_path) == []


def test_server_that_dies_is_told_with_its_log(serve, tmp_path):
    running = serve(STANDIN_SERVE_FAIL="die_after_tokens=2")
    log = running.ready()["log"]
    running.post(max_tokens=8)
    assert running.code() == 5
    said = running.said()
    assert "error: trtllm-serve ended with exit status 1" in said
    assert "  | [TRT-LLM] [E] Error in event loop: CUDA error" in said
    assert f"do: see the log {log}" in said
    assert running_for(tmp_path) == []


def test_server_that_is_killed_is_started_again(serve, tmp_path):
    running = serve("--port", "0", "--no-canary", "--restarts", "1")
    first = running.ready()
    os.kill(first["pid"], signal.SIGKILL)
    second = running.ready()
    assert second["url"] == first["url"]
    assert second["pid"] != first["pid"]
    assert "restart 1 of 1 in 1 s" in running.said()
    assert running.end() == 0
    assert running_for(tmp_path) == []


@pytest.mark.parametrize(
    ("failure", "options", "message"),
    [
        ("never_ready", ("--start-timeout", "1"), "not ready within 1 s (--start-tim"),
        ("unhealthy", ("--stall-timeout", "1"), "said nothing for 1 s (--stall-timeo"),
        ("die_before_ready", (), "ended with exit status 1 before it was ready"),
        ("out_of_memory", (), "meaning: The GPU has too little memory"),
        ("refuse_key=x", (), "meaning: A key of the YAML is not known"),
    ],
)
def test_server_that_never_is_ready(serve, tmp_path, failure, options, message):
    running = serve("--port", "0", *options, STANDIN_SERVE_FAIL=failure)
    assert running.code() == 5
    assert message in running.said()
    document = json.loads(running.process.stdout.read())
    assert (document["verdict"], document["exit_code"]) == ("error", 5)
    assert running_for(tmp_path) == []


@pytest.mark.parametrize("failure", ["hang_on_term", "worker_outlives"])
def test_what_does_not_end_by_itself_is_ended(serve, tmp_path, failure):
    options = ("--port", "0", "--no-canary", "--grace", "0.3")
    running = serve(*options, STANDIN_SERVE_FAIL=failure)
    running.ready()
    assert running.end() == 0
    assert running_for(tmp_path) == []


def test_what_a_killed_serve_leaves_is_ended_by_the_next(serve, tmp_path):
    first = serve(STANDIN_SERVE_FAIL="worker_outlives")
    server = first.ready()["pid"]
    assert first.end(signal.SIGKILL) == -signal.SIGKILL
    # the kernel takes the server with it, but not the server's worker
    wait_until(lambda: server not in [p.pid for p in running_for(tmp_path)])
    left = {process.pid for process in running_for(tmp_path)}
    assert len(left) == 1
    second = serve()
    second.ready()
    assert not left & {process.pid for process in running_for(tmp_path)}
    assert second.end() == 0
    assert running_for(tmp_path) == []


def test_busy_port_is_refused_with_the_program_that_holds_it(serve):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        running = serve("--port", str(port))
        assert running.code() == 2
    assert f"--port: port {port} is in use by " in running.said()
    assert f"process {os.getpid()}" in running.said()


def test_release_that_samples_nothing_says_lossy(tmp_path):
    (tmp_path / "run").mkdir()
    old = Place(tmp_path, "1.0.0")
    options = ("--direct", "--port", "0", "--no-canary")
    with old.serve(tmp_path / "run", *options) as running:
        document = running.ready()
        (warning,) = document["lossy"]
        for control in document["unhonoured"]:
            said = f"WARNING: in requests, {control}"
            assert said in running.said()
        assert warning.startswith("lossy for requests with a temperature above 0: ")
        assert running.end() == 0
        assert f"WARNING: {warning}" in running.said()


def test_without_json_there_is_an_example_to_copy(place, tmp_path):
    options = ("--direct", "--port", "0", "--no-canary")
    with place.serve(tmp_path, *options, as_json=False) as running:
        first, second = (running.process.stdout.readline().decode() for _ in "12")
        url = first.removeprefix("tiny is served at ").strip()
        artifact = Artifact.open(place.artifact)
        assert second.strip() == curl_command(artifact, url, artifact.path.name)
        assert running.end() == 0


@pytest.mark.parametrize("as_json", [True, False])
def test_it_goes_on_when_nobody_reads_what_it_says(place, tmp_path, as_json):
    options = ("--direct", "--port", "0", "--restarts", "1")
    with place.serve(tmp_path, *options, as_json=as_json) as running:
        running.process.stdout.close()

        def starts():
            return running.said().count("canary: 24 tokens in ")

        wait_until(starts, 60)  # where it is served is what it says next
        (server,) = psutil.Process(running.process.pid).children()
        server.kill()
        wait_until(lambda: starts() == 2, 60)
        assert running.end() == 0
        assert "Traceback" not in running.said()
    assert running_for(tmp_path) == []
