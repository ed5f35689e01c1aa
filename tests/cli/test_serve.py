"""``trtspec serve`` before the stand-in of trtllm-serve: one server, or on and off."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
from threading import Thread

import httpx
import psutil
import pytest

from tests.cli.serving import PROMPT, TRTSPEC, Place
from tests.trtllm.pytorch.build.projects import write_project as write_pytorch_project
from tests.trtllm.pytorch.launch.conftest import running_for, wait_until
from trtspec.build.artifact import Artifact
from trtspec.trtllm.pytorch.launch.address import Address
from trtspec.trtllm.pytorch.launch.example import curl_command
from trtspec.trtllm.pytorch.launch.http_client import ask


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return Place(tmp_path_factory.mktemp("serve"))


@pytest.fixture
def serve(place, tmp_path):
    with place.starting(tmp_path) as start:
        yield start


@pytest.fixture(scope="module")
def shared(place, tmp_path_factory):
    """A server that several tests ask; none of them harms it."""
    folder = tmp_path_factory.mktemp("shared")
    with place.serve(folder, "--port", "0", "--no-canary") as running:
        running.model = running.ready()["model"]
        listening = place.standin.events("listening")[-1]
        running.behind, running.server = listening["port"], listening["pid"]
        yield running
        assert running.end() == 0
    assert running_for(folder) == []


def asking(running, **body):
    return {**PROMPT, "model": running.model, "max_tokens": 20} | body


def post(running, **body):
    url = f"{running.address.url}/v1/completions"
    return httpx.post(url, json=asking(running, **body), timeout=60)


def streamed(port, body):
    """The texts of a stream's events, and its last line."""
    url = f"http://127.0.0.1:{port}/v1/completions"
    with httpx.stream("POST", url, json={**body, "stream": True}, timeout=60) as reply:
        data = [line[6:] for line in reply.iter_lines() if line]
    documents = [json.loads(each) for each in data if each != "[DONE]"]
    return [d["choices"][0]["text"] for d in documents], data[-1]


def test_server_is_ready_with_a_canary_and_ends_on_sigterm(serve, place, tmp_path):
    running = serve("--port", "0")
    document = running.ready()
    assert document["model"] == place.artifact.name
    assert document["canary"]["tokens"] == 24  # as many as the limits have room for
    checks = {c["name"]: c["verdict"] for c in document["canary"]["checks"]["checks"]}
    assert (checks["text"], checks["streaming"], checks["usage"]) == ("pass",) * 3
    assert document["pools"]["on"]["pid"] == document["pid"]
    assert psutil.pid_exists(document["pid"])
    artifact = Artifact.open(place.artifact)
    example = curl_command(artifact, document["url"], document["model"])
    copied = subprocess.run(
        ["sh", "-c", example], capture_output=True, text=True, check=True
    )
    assert json.loads(copied.stdout)["choices"][0]["speculation"]["enabled"]
    assert running.end() == 0
    assert "canary: 24 tokens in " in running.said()
    assert running_for(tmp_path) == []


def test_text_is_that_of_the_server_itself(shared):
    for prompt in ("t1 t2", "t5", "t9 t9 t9", [1, 2, 3]):
        body = asking(shared, prompt=prompt)
        behind = Address("127.0.0.1", shared.behind)
        direct = ask(behind, "/v1/completions", timeout=60, body=body).json()
        ours = post(shared, prompt=prompt).json()
        assert ours["choices"][0]["text"] == direct["choices"][0]["text"]
        assert ours["usage"] == direct["usage"]
        theirs, _ = streamed(shared.behind, body)
        pieces, last = streamed(shared.address.port, body)
        assert pieces == theirs  # none lost, none out of order, none put together
        assert last == "[DONE]"
        assert "".join(pieces) == direct["choices"][0]["text"]


def test_steps_bring_several_tokens_and_are_passed_on_as_they_come(shared):
    # the counting model repeats itself after 16 tokens: then n-grams are right
    pieces, _ = streamed(shared.address.port, asking(shared, max_tokens=36))
    assert max(len(piece.split()) for piece in pieces) > 1


def test_metrics_are_what_the_server_has_in_its_own_log(shared, place):
    def counters():
        page = httpx.get(f"{shared.address.url}/metrics").text
        lines = [x.rsplit(" ", 1) for x in page.splitlines() if x[0] != "#"]
        return {line[0].split("{")[0]: float(line[1]) for line in lines}

    def log():
        iterations = place.standin.events("iteration")
        own = [one for one in iterations if one["pid"] == shared.server]
        requests = [each for it in own for each in it["requests"]]
        drafts = [each for each in requests if each["drafted"]]
        return {
            "trtspec:spec_decode_num_drafts_total": len(drafts),
            "trtspec:spec_decode_num_draft_tokens_total": sum(
                each["drafted"] for each in drafts
            ),
            "trtspec:spec_decode_num_accepted_tokens_total": sum(
                each["accepted"] for each in drafts
            ),
        }

    def agree():
        found = counters()
        return all(found[name] == count for name, count in log().items())

    before = counters()["trtspec:generation_tokens_total"]
    drafted = sum(log().values())
    for _ in range(3):
        post(shared, max_tokens=36)
        streamed(shared.address.port, asking(shared, max_tokens=36))
    assert sum(log().values()) > drafted
    wait_until(agree, 120)
    tokens = counters()["trtspec:generation_tokens_total"]
    assert tokens - before == 6 * 36


def test_release_would_drop_it_so_it_is_refused(shared):
    refused = post(shared, presence_penalty=1)
    assert refused.status_code == 400
    assert "drops it silently" in refused.json()["error"]["message"]
    assert post(shared, speculation={"enabled": False}).status_code == 400


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 129)]
)
def test_other_signals_end_it_as_well(serve, tmp_path, number, code):
    running = serve()
    running.ready()
    assert running.end(number) == code
    assert "Traceback" not in running.said()
    assert running_for(tmp_path) == []


def test_requests_in_flight_get_their_answer_at_the_end(serve, place, tmp_path):
    running = serve(STANDIN_PACE="0.1")
    running.model = running.ready()["model"]
    answers = []
    waiters = [
        Thread(target=lambda: answers.append(post(running, max_tokens=10)))
        for _ in range(3)
    ]
    before = len(place.standin.events("iteration"))
    for waiter in waiters:
        waiter.start()
    wait_until(lambda: len(place.standin.events("iteration")) > before + 2, 60)
    assert running.end() == 0
    for waiter in waiters:
        waiter.join()
    assert [a.json()["usage"]["completion_tokens"] for a in answers] == [10] * 3
    assert running_for(tmp_path) == []


def test_what_is_not_done_in_time_ends_with_an_error(serve, place, tmp_path):
    running = serve("--port", "0", "--no-canary", "--grace", "0.3", STANDIN_PACE="0.5")
    running.model = running.ready()["model"]
    answers = []
    waiter = Thread(target=lambda: answers.append(post(running, max_tokens=36)))
    before = len(place.standin.events("iteration"))
    waiter.start()
    wait_until(lambda: len(place.standin.events("iteration")) > before, 60)
    assert running.end() == 0
    waiter.join()
    assert answers[0].status_code in (502, 503)
    assert answers[0].json()["error"]["message"]
    assert running_for(tmp_path) == []


def test_server_that_dies_is_told_with_its_log_and_its_clients_hear_of_it(
    serve, tmp_path
):
    running = serve(STANDIN_SERVE_FAIL="die_after_tokens=2")
    document = running.ready()
    running.model = document["model"]
    answer = post(running, max_tokens=8)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "server_lost")
    assert running.code() == 5
    said = running.said()
    assert "error: trtllm-serve ended with exit status 1" in said
    assert "  | [TRT-LLM] [E] Error in event loop: CUDA error" in said
    assert f"do: see the log {document['log']}" in said
    assert running_for(tmp_path) == []


def test_server_that_is_killed_is_started_again_behind_the_same_port(serve, tmp_path):
    options = ("--port", "0", "--no-canary", "--restarts", "1")
    running = serve(*options, STANDIN_PACE="0.2")
    first = running.ready()
    running.model = first["model"]
    found = []
    body = asking(running, max_tokens=36)

    def read():
        url = f"{running.address.url}/v1/completions"
        with httpx.stream(
            "POST", url, json={**body, "stream": True}, timeout=60
        ) as reply:
            for line in reply.iter_lines():
                found.append(line)

    reader = Thread(target=read)
    reader.start()
    wait_until(lambda: len(found) > 2, 60)
    os.kill(first["pid"], signal.SIGKILL)
    reader.join(60)
    last = json.loads([line for line in found if line][-1].removeprefix("data: "))
    assert last["error"]["code"] == "server_lost"
    url = running.address.url
    wait_until(lambda: httpx.get(f"{url}/ready").status_code == 503, 30)
    refused = post(running)
    assert (refused.status_code, bool(refused.headers["retry-after"])) == (503, True)
    assert httpx.get(f"{url}/health").status_code == 200
    second = running.ready()
    assert second["url"] == first["url"]
    assert second["pid"] != first["pid"]
    assert post(running, max_tokens=3).json()["usage"]["completion_tokens"] == 3
    assert "restart 1 of 1 in 1 s" in running.said()
    assert running.end() == 0
    assert running_for(tmp_path) == []


@pytest.mark.parametrize(
    ("failure", "options", "message"),
    [
        ("never_ready", ("--start-timeout", "1"), "not ready within 1 s (--start-tim"),
        ("out_of_memory", (), "meaning: The GPU has too little memory"),
    ],
)
def test_server_that_never_is_ready(serve, tmp_path, failure, options, message):
    running = serve("--port", "0", *options, STANDIN_SERVE_FAIL=failure)
    assert running.code() == 5
    assert message in running.said()
    document = json.loads(running.process.stdout.read())
    assert (document["verdict"], document["exit_code"]) == ("error", 5)
    assert running_for(tmp_path) == []


def test_on_and_off_stand_behind_one_port(serve, place, tmp_path):
    options = ("--port", "0", "--no-canary", "--with-off", "--off-above-prompt", "3")
    options += ("--gpus", "on=0", "--gpus", "off=1", "--restarts", "1")
    options += ("--engines", str(tmp_path / "engines"))
    calls = len(place.standin.calls())
    running = serve(*options)
    document = running.ready()
    running.model = document["model"]
    on, off = document["pools"]["on"], document["pools"]["off"]
    assert off["model"].startswith("tiny-off-")
    served = [
        call["environment"]["CUDA_VISIBLE_DEVICES"]
        for call in place.standin.calls()[calls:]
        if call["program"] == "trtllm-serve"
    ]
    assert sorted(served) == ["0", "1"]

    def pool(**body):
        answer = post(running, **body)
        return answer.headers["x-trtspec-pool"], answer.json()["choices"][0]["text"]

    drafted, plain = pool(), pool(speculation={"enabled": False})
    assert (drafted[0], plain[0]) == ("on", "off")
    assert drafted[1] == plain[1]  # speculation leaves the text alone
    assert pool(prompt=[1, 2, 3, 4])[0] == "off"
    assert pool(model=off["model"])[0] == "off"
    os.kill(on["pid"], signal.SIGKILL)
    wait_until(lambda: post(running).status_code == 200, 30)
    answer = post(running)
    assert answer.headers["x-trtspec-pool"] in ("off", "on")
    assert running.ready()["pools"]["on"]["pid"] != on["pid"]
    assert running.end() == 0
    assert running_for(tmp_path) == []


def test_too_few_gpus_for_two_pools_are_told_before_anything_starts(serve, tmp_path):
    options = ("--port", "0", "--with-off", "--engines", str(tmp_path / "engines"))
    running = serve(*options, CUDA_VISIBLE_DEVICES="0")
    assert running.code() == 2
    assert "--gpus: two servers need 1 for on and 1 for off" in running.said()


def test_busy_port_is_refused(serve):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        running = serve("--port", str(port))
        assert running.code() == 2
    assert f"--port: port {port} is in use" in running.said()


def test_keys_of_the_environment_let_in(serve):
    running = serve(TRTSPEC_API_KEY="secret")
    running.model = running.ready()["model"]
    assert post(running).status_code == 401
    url = f"{running.address.url}/v1/completions"
    headers = {"Authorization": "Bearer secret"}
    assert httpx.post(url, json=asking(running), headers=headers).status_code == 200
    assert "secret" not in running.said()


def test_directory_that_is_no_artifact_is_told_as_everywhere(tmp_path):
    result = subprocess.run(
        [*TRTSPEC, "serve", str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 2
    assert f"{tmp_path} is not an artifact" in result.stderr


@pytest.mark.parametrize("text", ["", "zz: 1\n"])
def test_artifact_with_a_damaged_recipe_is_damaged_as_everywhere(place, tmp_path, text):
    copy = shutil.copytree(place.artifact, tmp_path / "copy", symlinks=True)
    (copy / "recipe.yaml").write_text(text)
    result = subprocess.run(
        [*TRTSPEC, "serve", str(copy)], capture_output=True, text=True, check=False
    )
    assert result.returncode == 5
    assert f"{copy}: the artifact is damaged: recipe.yaml was changed" in result.stderr
    assert "build it again" in result.stderr


def test_log_that_cannot_be_written_is_told_before_anything_is_built(tmp_path):
    recipe = write_pytorch_project(tmp_path)
    log = tmp_path / "none" / "server.log"
    words = [*TRTSPEC, "serve", str(recipe), "--log", str(log)]
    result = subprocess.run(words, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert f"error: --log: {log} cannot be written: No such file" in result.stderr


def test_without_tensorrt_llm_it_is_not_available(place, tmp_path):
    result = subprocess.run(
        [*TRTSPEC, "serve", str(place.artifact)],
        capture_output=True,
        text=True,
        env={**os.environ, "TRTSPEC_CACHE": str(tmp_path)},
        check=False,
    )
    assert result.returncode == 4
    assert "trtllm-serve is not here: TensorRT-LLM is not installed" in result.stderr


def test_forced_acceptance_is_refused(serve):
    running = serve(TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS="2")
    assert running.code() == 2
    assert "$TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS" in running.said()
