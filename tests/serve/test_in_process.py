"""A service's course: checked, ready, draining, ended; and what ends it early."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from tests.serve.openai.bodies import COMPLETION
from tests.serve.replies import read_reply
from tests.serve.serving import served, until
from trtspec.errors import RunError, VerificationError

PATH = "/v1/completions"


@pytest.fixture
def pool():
    with ThreadPoolExecutor(4) as found:
        yield found


def post(server, **body):
    with server.client() as client:
        answer = client.post(PATH, json={**COMPLETION, **body})
        stream = body.get("stream", False)
        return read_reply(answer.status_code, answer.text, stream)


@pytest.mark.parametrize("keys", [(), ("k",)])
def test_the_canary_is_let_in_while_others_are_not(fake, word_recipe, keys):
    """By the server's own key, whether or not others need one."""
    seen, places = {}, []

    def check():
        until(lambda: places)
        [server] = places
        own = {"Authorization": f"Bearer {server.service.own_key}"}
        theirs = {"Authorization": "Bearer k"}
        with server.client() as client:
            for name, headers in (("own", own), ("theirs", theirs)):
                answer = client.post(PATH, json=COMPLETION, headers=headers)
                seen[name] = answer.status_code
            seen["ready"] = client.get("/ready").status_code
            seen["health"] = client.get("/health").status_code

    with served(fake, word_recipe, check=check, wait=False, keys=keys) as server:
        places.append(server)
        with server.client() as client:
            until(lambda: client.get("/ready").status_code == 200)
    assert seen == {"own": 200, "theirs": 503, "ready": 503, "health": 200}


def test_before_it_is_ready_requests_are_told_to_come_again(fake, word_recipe):
    go_on = threading.Event()
    check = lambda: go_on.wait(20)  # noqa: E731 - a check that takes a while
    with served(fake, word_recipe, check=check, wait=False) as server:
        with server.client() as client:
            answer = client.post(PATH, json=COMPLETION)
            assert answer.status_code == 503
            assert answer.json()["error"]["code"] == "starting"
            assert int(answer.headers["retry-after"]) > 0
            assert client.get("/ready").json()["status"] == "starting"
            assert client.get("/v1/models").status_code == 200
        go_on.set()
        until(lambda: server.service.phase.ready)
        assert post(server).status == 200


def test_a_check_that_fails_ends_the_server(fake, word_recipe):
    def check():
        raise VerificationError("no good")

    with served(fake, word_recipe, check=check) as server:
        server.thread.join(20)
        assert isinstance(server.error, VerificationError)
        assert fake.closed.is_set()
        with pytest.raises(httpx.ConnectError), server.client() as client:
            client.get("/health")


def test_an_end_while_it_is_checked(fake, word_recipe):
    go_on = threading.Event()
    check = lambda: go_on.wait(20)  # noqa: E731 - a check that takes a while
    with served(fake, word_recipe, check=check, wait=False) as server:
        until(lambda: server.service.driver._running is not None)
        server.stops += 1
        time.sleep(0.2)
        go_on.set()
        server.thread.join(20)
        assert server.error is None
        assert not server.service.phase.ready
        assert fake.closed.is_set()


def test_at_the_end_requests_in_flight_are_finished_and_new_ones_refused(
    fake, word_recipe, pool
):
    with served(fake, word_recipe) as server, server.client() as client:
        client.get("/health")  # a connection that stays open
        fake.gate.clear()
        held = [
            pool.submit(post, server, stream=s, max_tokens=6) for s in (True, False)
        ]
        until(lambda: server.service.admission.inside == 2)
        server.stops += 1
        until(lambda: server.service.phase.name == "draining")
        answer = client.post(PATH, json=COMPLETION)
        assert answer.status_code == 503
        assert answer.json()["error"]["code"] == "draining"
        assert answer.headers["connection"] == "close"
        with server.client() as other:
            assert other.get("/ready").status_code == 503
            assert other.get("/health").status_code == 200
        fake.gate.set()
        for one in held:
            reply = one.result(20)
            assert (reply.status, reply.error, reply.ended) == (200, None, True)
            assert reply.answers[0].finish == "length"
        server.thread.join(20)
        assert server.error is None
        assert not any("cancelled" in line for line in server.said)
        assert fake.told[-1] == ("close",)


@pytest.mark.parametrize("again", [True, False])
def test_those_that_are_not_done_in_time_or_not_waited_for_are_told(
    fake, word_recipe, pool, again
):
    grace = 60.0 if again else 0.3
    with served(fake, word_recipe, grace=grace) as server:
        fake.gate.clear()
        fake.at_gate.clear()
        held = [
            pool.submit(post, server, stream=s, max_tokens=40) for s in (True, False)
        ]
        until(lambda: server.service.admission.inside == 2)
        until(fake.at_gate.is_set)
        server.stops += 1
        until(lambda: server.service.phase.name == "draining")
        server.stops += again
        until(lambda: any("are cancelled" in line for line in server.said))
        fake.gate.set()
        for one in held:
            reply = one.result(20)
            assert reply.error["code"] == "draining"
            assert "not done in time" in reply.error["message"]
        server.thread.join(20)
        assert not server.thread.is_alive()
        assert server.error is None
        outcomes = sorted('"failed"' in line for line in server.lines)
        assert outcomes == [True, True]
        why = "another signal" if again else "not done in time"
        assert why in server.said[-1]


def test_an_engine_that_breaks_ends_the_server_with_an_error(fake, word_recipe):
    with served(fake, word_recipe) as server:
        fake.failures = [ValueError("the last")] * 3
        assert [post(server).status for _ in range(3)] == [500] * 3
        server.thread.join(20)
        assert isinstance(server.error, RunError)
        assert "the engine broke: the last" in str(server.error)
        assert fake.closed.is_set()


def test_ports_are_free_again(fake, word_recipe):
    with served(fake, word_recipe) as server:
        server.end()
        port = int(server.url.rpartition(":")[2])
    from trtspec.serve.http.server import listen

    listen("127.0.0.1", port).close()
