"""What becomes of an answer when the engine fails, hangs, or ends before it."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.serve.openai.bodies import COMPLETION
from tests.serve.replies import read_reply
from tests.serve.serving import served, until
from trtspec.serve.limits import ServeLimits

PATH = "/v1/completions"


@pytest.fixture
def ask():
    """Send a request beside the test; gives its future."""
    with ThreadPoolExecutor(8) as pool:

        def send(server, **body):
            stream = body.get("stream", False)

            def work():
                with server.client() as client:
                    answer = client.post(PATH, json={**COMPLETION, **body})
                    reply = read_reply(answer.status_code, answer.text, stream)
                    return answer, reply

            return pool.submit(work)

        yield send


def last_line(server, count=1):
    until(lambda: len(server.lines) >= count)
    return json.loads(server.lines[-1])


def metric(server, name, **labels):
    with server.client() as client:
        text = client.get("/metrics").text
    wanted = "".join(f',{key}="{value}"' for key, value in labels.items())
    for line in text.splitlines():
        if line.startswith(f'{name}{{model_name="toy"{wanted}}}'):
            return float(line.rpartition(" ")[2])
    return 0.0


def test_a_failure_before_the_first_event_has_its_status(fake, word_recipe, ask):
    with served(fake, word_recipe) as server:
        for stream in (False, True):
            fake.failures = [RuntimeError("CUDA out of memory")]
            answer, reply = ask(server, stream=stream).result(20)
            assert answer.status_code == 500
            assert reply.error["code"] == "engine_failed"
            assert "ran out of memory" in reply.error["message"]
            assert ask(server, stream=stream).result(20)[0].status_code == 200


def test_a_failure_behind_some_events_is_the_last_one(fake, word_recipe, ask):
    with served(fake, word_recipe) as server:
        fake.failures = [None, None, KeyError("secret")]
        answer, reply = ask(server, stream=True).result(20)
        assert answer.status_code == 200
        assert not reply.ended, "[DONE] is for answers that are whole"
        assert reply.answers[0].text == "0 1 "
        assert reply.error["code"] == "engine_failed"
        assert "secret" not in answer.text
        assert last_line(server)["outcome"] == "failed"
        assert metric(server, "trtspec:requests_failed_total", reason=500) == 1
        assert server.service.admission.inside == 0


def test_if_one_of_several_choices_is_refused_the_others_are_cancelled(
    fake, word_recipe, ask
):
    with served(fake, word_recipe) as server:
        refuse = fake.submit

        def submit(request):
            if request.id.endswith("-1"):
                raise RuntimeError("no place")
            refuse(request)

        fake.submit, fake.seconds = submit, 0.03
        answer, _ = ask(server, n=3, max_tokens=40).result(20)
        assert answer.status_code == 500
        until(lambda: not server.service.driver.streams)
        cancelled = [what[1][-2:] for what in fake.told if what[0] == "cancel"]
        assert sorted(cancelled) == ["-0", "-2"]


def test_a_request_that_takes_too_long_is_cancelled(fake, word_recipe, ask):
    limits = ServeLimits(request_seconds=0.2)
    with served(fake, word_recipe, limits=limits) as server:
        fake.gate.clear()
        answer, reply = ask(server).result(20)
        assert answer.status_code == 504
        assert reply.error["type"] == "timeout_error"
        assert "0.2 s" in reply.error["message"]
        fake.gate.set()
        until(lambda: not server.service.driver.streams)
        assert tuple(w[0] for w in fake.told if w[0] == "cancel") == ("cancel",)


def test_a_full_queue_is_told_before_the_body_is_read(fake, word_recipe, ask):
    with served(fake, word_recipe, limits=ServeLimits(waiting=1)) as server:
        fake.gate.clear()
        held = [ask(server) for _ in range(3)]  # two places and one that waits
        until(lambda: server.service.admission.inside == 3)
        with server.client() as client:
            answer = client.post(PATH, content=b"not even JSON")
        assert answer.status_code == 429
        assert 1 <= int(answer.headers["retry-after"]) <= 60
        assert answer.json()["error"]["type"] == "rate_limit_error"
        assert metric(server, "trtspec:num_requests_running") == 2
        assert metric(server, "trtspec:num_requests_waiting") == 1
        assert metric(server, "trtspec:requests_refused_total", reason=429) == 1
        fake.gate.set()
        assert [one.result(20)[0].status_code for one in held] == [200] * 3
        assert ask(server).result(20)[0].status_code == 200
        assert metric(server, "trtspec:num_requests_running") == 0


def test_several_choices_need_several_places(fake, word_recipe, ask):
    with served(fake, word_recipe, limits=ServeLimits(waiting=1)) as server:
        fake.gate.clear()
        held = ask(server, n=2)
        until(lambda: server.service.admission.inside == 2)
        assert ask(server, n=2).result(20)[0].status_code == 429
        last = ask(server)
        until(lambda: server.service.admission.inside == 3)
        fake.gate.set()
        assert {held.result(20)[0].status_code, last.result(20)[0].status_code} == {200}


@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_goes_frees_its_place(fake, word_recipe, stream):
    fake.seconds = 0.05
    body = {**COMPLETION, "max_tokens": 40, "n": 2, "stream": stream}
    with served(fake, word_recipe) as server:
        with server.client() as client:
            if stream:
                with client.stream("POST", PATH, json=body) as answer:
                    next(answer.iter_lines())
            else:
                with pytest.raises(httpx.ReadTimeout):
                    client.post(PATH, json=body, timeout=1.0)
        until(lambda: server.service.admission.inside == 0)
        until(lambda: not server.service.driver.streams)
        assert len([what for what in fake.told if what[0] == "cancel"]) == 2
        line = last_line(server)
        assert line["outcome"] == "gone"
        assert line["status"] == (200 if stream else 499)


def test_with_prompts_the_log_has_text(fake, word_recipe, ask):
    with served(fake, word_recipe, prompts=True) as server:
        ask(server).result(20)
        line = last_line(server)
        assert line["prompt"] == ["w3"]
        assert len(line["output"]) == 1


def test_a_key_is_asked_for(fake, word_recipe):
    with served(fake, word_recipe, keys=["right"]) as server, server.client() as client:
        assert client.post(PATH, json=COMPLETION).status_code == 401
        sent = {"Authorization": "Bearer right"}
        assert client.post(PATH, json=COMPLETION, headers=sent).status_code == 200
        assert client.get("/metrics").status_code == 200


def test_a_body_beyond_the_limit(fake, word_recipe):
    limits = ServeLimits(body_bytes=200)
    with served(fake, word_recipe, limits=limits) as server, server.client() as client:
        answer = client.post(PATH, json={**COMPLETION, "user": "x" * 300})
        assert answer.status_code == 413
        assert "200 bytes" in answer.json()["error"]["message"]
        assert fake.told == []
