"""What every request passes: keys, phase, log, counts, and errors without insides."""

from __future__ import annotations

import asyncio
import json
import re

import pytest
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from tests.serve.serving import IDENTITY
from trtspec.serve.http.api_key import ApiKeys
from trtspec.serve.http.body import BodyRoom
from trtspec.serve.http.door import Door
from trtspec.serve.http.phase import Phase
from trtspec.serve.http.request_log import RequestLog
from trtspec.serve.metrics import ServerMetrics
from trtspec.serve.openai.errors import RefusalError

OWN = "own-key"


class Passed:
    """A door before an application that does what it is told."""

    def __init__(self, does, keys=(), ready=True) -> None:
        self.lines: list[str] = []
        self.metrics = ServerMetrics("toy", IDENTITY)
        self.phase = Phase()
        if ready:
            self.phase.enter("ready")
        self.door = Door(
            self._app,
            ApiKeys(keys),
            self.phase,
            RequestLog(self.lines.append),
            self.metrics,
            OWN,
            BodyRoom(10**6),
        )
        self._does = does
        self.seen = 0
        self.inside = 0

    async def _app(self, scope, receive, send):
        self.seen += 1
        self.inside = self.door.inside
        await self._does(scope, receive, send)

    def ask(self, path="/v1/completions", method="POST", key=None):
        """Status, headers and document of the answer."""
        headers = [] if key is None else [(b"authorization", f"Bearer {key}".encode())]
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "headers": headers,
            "client": ("127.0.0.1", 1),
        }
        sent = []

        async def send(message):
            sent.append(message)

        async def receive():
            return {"type": "http.request", "body": b"", "more_body": False}

        asyncio.run(self.door(scope, receive, send))
        assert self.door.inside == 0
        if not sent:
            return None, {}, None
        body = b"".join(m.get("body", b"") for m in sent[1:])
        headers = {k.decode(): v.decode() for k, v in sent[0]["headers"]}
        return sent[0]["status"], headers, body.decode()

    def count(self, name, reason):
        wanted = f'{name}_total{{model_name="toy",reason="{reason}"}} 1.0'
        return wanted in self.metrics.render().decode()

    @property
    def line(self):
        [line] = self.lines
        return json.loads(line)


async def fine(scope, receive, send):
    await Response("fine")(scope, receive, send)


def raising(error, begun=False):
    async def does(scope, receive, send):
        if begun:
            start = {"type": "http.response.start", "status": 200, "headers": []}
            await send(start)
        raise error

    return does


def test_an_answer_passes_with_the_requests_id():
    passed = Passed(fine)
    status, headers, body = passed.ask()
    assert (status, body) == (200, "fine")
    assert re.fullmatch(r"cmpl-[0-9a-f]{24}", headers["x-request-id"])
    assert passed.line["id"] == headers["x-request-id"]
    assert (passed.line["outcome"], passed.line["status"]) == ("ok", 200)
    assert passed.inside == 1


@pytest.mark.parametrize(
    ("path", "method", "key", "status"),
    [
        ("/v1/completions", "POST", None, 401),
        ("/v1/completions", "POST", "wrong", 401),
        ("/v1/completions", "POST", "right", 200),
        ("/v1/completions", "POST", OWN, 200),
        ("/v1/models", "GET", None, 401),
        ("/v1/models", "GET", "right", 200),
        ("/health", "GET", None, 200),
        ("/metrics", "GET", None, 200),
        ("/ready", "GET", None, 200),
    ],
)
def test_keys(path, method, key, status):
    passed = Passed(fine, keys=["right"])
    assert passed.ask(path, method, key)[0] == status
    assert passed.seen == (status == 200)


def test_a_refused_key_is_logged_counted_and_told_how():
    passed = Passed(fine, keys=["right"])
    _, headers, body = passed.ask(key="wrong")
    assert headers["www-authenticate"] == "Bearer"
    assert json.loads(body)["error"]["type"] == "authentication_error"
    assert passed.line["outcome"] == "refused"
    assert "wrong" not in passed.lines[0].replace("outcome", "")
    assert passed.count("trtspec:requests_refused", 401)


@pytest.mark.parametrize(
    ("path", "method", "key", "status"),
    [
        ("/v1/completions", "POST", None, 503),
        ("/v1/completions", "POST", OWN, 200),
        ("/v1/models", "GET", None, 200),
        ("/health", "GET", None, 200),
    ],
)
def test_before_it_is_ready_only_the_canary_generates(path, method, key, status):
    passed = Passed(fine, ready=False)
    found, headers, _ = passed.ask(path, method, key)
    assert found == status
    assert ("retry-after" in headers) == (status == 503)


def test_refusals_of_the_application_leave_as_documents():
    passed = Passed(raising(RefusalError(429, "later", headers={"Retry-After": "3"})))
    status, headers, body = passed.ask()
    assert (status, headers["retry-after"]) == (429, "3")
    assert json.loads(body)["error"]["message"] == "later"
    assert passed.count("trtspec:requests_refused", 429)
    assert passed.line["reason"] == "later"


@pytest.mark.parametrize("phase", ["ready", "draining"])
def test_a_request_that_was_taken_and_lost_is_a_failure(phase):
    """Also at the end, when others are merely refused."""
    passed = Passed(raising(RefusalError(503, "not done in time")))
    entered = passed._does

    async def does(scope, receive, send):
        passed.phase.enter(phase)
        await entered(scope, receive, send)

    passed._does = does
    passed.ask()
    assert passed.line["outcome"] == "failed"
    assert passed.count("trtspec:requests_failed", 503)


def test_a_request_that_comes_too_late_is_a_refusal():
    passed = Passed(fine)
    passed.phase.enter("draining", "the server ends")
    passed.ask()
    assert passed.line["outcome"] == "refused"
    assert passed.count("trtspec:requests_refused", 503)


def test_what_breaks_says_nothing_of_the_servers_insides(caplog):
    passed = Passed(raising(KeyError("a secret")))
    status, headers, body = passed.ask()
    assert status == 500
    assert "secret" not in body
    assert headers["x-request-id"] in body
    assert "a secret" in passed.line["reason"]
    assert "a secret" in caplog.text
    assert passed.count("trtspec:requests_failed", 500)


def test_a_client_that_left_is_no_failure_of_ours():
    passed = Passed(raising(ClientDisconnect()))
    assert passed.ask()[0] is None
    assert (passed.line["outcome"], passed.line["status"]) == ("gone", 499)
    text = passed.metrics.render().decode()
    assert "requests_failed_total{" not in text


def test_once_an_answer_began_there_is_no_second_head():
    passed = Passed(raising(KeyError("x"), begun=True))
    status, _, body = passed.ask()
    assert (status, body) == (200, "")
    assert passed.line["outcome"] == "failed"


def test_other_scopes_pass():
    seen = []

    async def does(scope, receive, send):
        seen.append(scope["type"])

    passed = Passed(does)
    asyncio.run(passed.door({"type": "lifespan"}, None, None))
    assert seen == ["lifespan"]
