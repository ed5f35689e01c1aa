"""A server is asked what it is before anything is sent to be measured."""

from __future__ import annotations

import socket

import pytest

from tests.bench.http.mock_server import Script, document, serving
from trtspec.bench.http.address import API_KEY, Address, read_address
from trtspec.bench.http.probe import look_at
from trtspec.errors import RunError, UsageError

NOT_FOUND = document({"detail": "Not Found"}, "404 Not Found")


def look(model=None, **pages):
    with serving(**pages) as mock:
        return look_at(read_address(mock.url, {}), model, "chat")


def test_the_first_model_is_taken():
    models = document({"data": [{"id": "a", "owned_by": "vllm"}, {"id": "b"}]})
    found = look(models=models)
    assert found.model == "a"
    assert found.described == {
        "server": "mock",
        "version": "1.2.3",
        "owned_by": "vllm",
    }


def test_the_named_model_is_taken():
    models = document({"data": [{"id": "a"}, {"id": "b", "max_model_len": 99}]})
    found = look("b", models=models)
    assert found.model == "b"
    assert found.described["max_model_len"] == 99


def test_a_model_that_is_not_listed_is_left_to_the_server():
    assert look("adapter").model == "adapter"


@pytest.mark.parametrize(
    "models",
    [NOT_FOUND, document({"data": []}), document([]), Script((b"<html>",))],
    ids=["404", "none", "no object", "no JSON"],
)
def test_without_a_list_the_model_must_be_named(models):
    assert look("m", models=models).model == "m"
    with pytest.raises(UsageError, match="--model"):
        look(models=models)


@pytest.mark.parametrize(
    "version", [NOT_FOUND, document({"v": 1}), document([]), Script((b"1.0",))]
)
def test_a_version_that_is_not_told_is_unknown(version):
    assert look(version=version).described["version"] is None


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden"])
def test_a_server_that_lets_nobody_in(status):
    with pytest.raises(RunError, match=API_KEY):
        look(models=document({}, status))


def test_a_server_that_is_not_there():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(RunError, match="no server answers"):
        look_at(Address(f"http://127.0.0.1:{port}"), None, "chat")


def test_a_password_is_not_shown_when_nobody_answers():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    address = read_address(f"http://user:secret@127.0.0.1:{port}", {})
    with pytest.raises(RunError) as caught:
        look_at(address, None, "chat")
    assert "secret" not in str(caught.value)


def test_what_a_server_says_of_itself_can_be_kept_and_shown():
    models = Script(
        (
            b'{"data": [{"id": "m\\ud800", "owned_by": {"a": [1e999]},'
            b' "max_model_len": 1e999}]}',
        ),
        kind="application/json",
    )
    found = look(models=models, version=document({"version": "\x1b[2J" + "1" * 999}))
    assert found.model == "m\ufffd"
    assert found.described["owned_by"] == "{'a': [inf]}"
    assert found.described["max_model_len"] == "inf"
    assert found.described["version"].startswith(r"\x1b[2J1")
    assert len(found.described["version"]) < 400


def test_a_list_of_models_that_is_nested_too_deep_is_none():
    with pytest.raises(UsageError, match="names no models"):
        look(models=Script((b"[" * 100_000,), kind="application/json"))


@pytest.mark.parametrize("host", ["a..b", "%00", "x" * 300, "ex*mple"])
def test_an_address_that_only_a_client_finds_wrong_is_told(host):
    with pytest.raises((UsageError, RunError)) as found:
        look_at(read_address(f"http://{host}", {}), None, "chat")
    assert host in str(found.value)


def own(**told):
    card = {"id": "toy", "owned_by": "trtspec", "trtspec": told}
    return look(models=document({"data": [card]}))


def test_our_own_server_tells_its_artifact():
    found = own(backend="reference", method="ngram", draft_length="4", artifact="a-1")
    assert found.method == "ngram"
    assert found.switchable
    assert found.described["trtspec"]["artifact"] == "a-1"


@pytest.mark.parametrize(
    ("backend", "method", "switchable"),
    [
        ("reference", "eagle3", True),
        ("reference", "none", False),
        ("tensorrt", "ngram", True),
        ("tensorrt", "medusa", False),
        ("pytorch", "ngram", False),
    ],
)
def test_which_requests_can_decode_without_drafting(backend, method, switchable):
    assert own(backend=backend, method=method).switchable is switchable


def test_other_servers_tell_no_method_and_cannot_be_switched():
    found = look(models=document({"data": [{"id": "a", "trtspec": "yes"}]}))
    assert (found.method, found.switchable) == ("unknown", False)
