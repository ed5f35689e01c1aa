"""Only a server of the artifact's family that names the very artifact is taken."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest
from packaging.version import Version

from tests.trtllm.pytorch.run.artifacts import SERVED
from tests.trtllm.pytorch.run.tiny_server import TinyServer
from trtspec.errors import RunError, UsageError
from trtspec.trtllm.pytorch.run.server_check import (
    base_url,
    require_served,
    server_release,
)


@pytest.fixture(scope="module")
def server():
    server = TinyServer()
    yield server
    server.close()


@pytest.fixture
def client(server):
    with httpx.Client(base_url=server.url) as client:
        yield client


PATHS = ["", "/", "/v1/", "/v1/completions", "/v1/chat/completions/", "/health"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("base", ["http://h:8000", "http://v1", "https://h/proxy"])
def test_a_url_may_end_in_the_apis_path(base, path):
    assert base_url(base + path) == base


NO_URLS = ["", "h:8000", "ftp://h", "http://", "http://[::1", "http://h:99999"]


@pytest.mark.parametrize("url", [*NO_URLS, "http://h:0", "http://h:port"])
def test_what_is_no_url_is_refused(url):
    with pytest.raises(UsageError, match=f"--url: '{re.escape(url)}' is no URL"):
        base_url(url)


@pytest.mark.parametrize(
    "url",
    [
        *("http://me:secret@h:8000", "https://secret@h", "http://h/?key=secret"),
        *("http://h#secret", "me:secret@h", "http://me:secret@h:99999"),
        *("http://me:secret@[::1", "http://me:se/secret@h:80x"),
    ],
)
def test_a_password_in_a_url_is_refused_and_not_shown(url):
    with pytest.raises(UsageError) as refused:
        base_url(url)
    (problem,) = refused.value.problems
    assert problem.where == "--url"
    assert "secret" not in str(problem)


@pytest.mark.parametrize("version", ["1.2.0", "1.2.1"])
def test_another_release_of_the_family_will_do(client, version):
    assert server_release(client, Version(version)) == Version("1.2.1")


@pytest.mark.parametrize("version", ["1.1.0", "1.4.0rc4"])
def test_a_release_of_another_family_is_refused(client, version):
    with pytest.raises(RunError, match=rf"1\.2\.1.*built for {version}"):
        server_release(client, Version(version))


@pytest.mark.parametrize("page", [None, {"version": "latest"}, {"other": 1}, [1]])
def test_a_server_that_does_not_say_its_release_is_refused(server, client, page):
    pages = dict(server.pages)
    server.pages["/version"] = page
    with pytest.raises(RunError, match="GET /version"):
        server_release(client, Version("1.2.1"))
    server.pages |= pages


@pytest.mark.parametrize("other", ["target", "org/Toy", "toy-0123456789ab"])
def test_a_server_that_names_anything_else_is_refused(client, other):
    require_served(client, SERVED, Path("engines") / SERVED)
    with pytest.raises(RunError) as refused:
        require_served(client, other, Path("engines") / other)
    said = str(refused.value)
    assert f"the server serves {SERVED}, which does not show" in said
    assert f"allowed: {other}" in said
    assert f"trtspec serve engines/{other}" in said


def test_nothing_served_is_refused(server, client):
    pages = dict(server.pages)
    server.pages["/v1/models"] = {"data": []}
    with pytest.raises(RunError, match="serves no model"):
        require_served(client, SERVED, Path("a"))
    server.pages |= pages


@pytest.mark.parametrize("page", [None, "<html>", {"version": "latest"}])
def test_another_program_at_the_url_is_told_as_such(server, client, page):
    pages = dict(server.pages)
    server.pages["/version"] = page
    with pytest.raises(RunError) as refused:
        server_release(client, Version("1.2.1"))
    server.pages |= pages
    (problem,) = refused.value.problems
    assert problem.what.startswith("this is no trtllm-serve: GET /version ")
    assert "give the base URL" in problem.action


def test_a_server_that_cannot_answer_is_told_by_its_status(server):
    def busy(request):
        return httpx.Response(503)

    transport = httpx.MockTransport(busy)
    with (
        httpx.Client(base_url=server.url, transport=transport) as client,
        pytest.raises(RunError) as refused,
    ):
        server_release(client, Version("1.2.1"))
    (problem,) = refused.value.problems
    assert problem.what == "GET /version answered 503 Service Unavailable"
