"""Who may come in: keys, how they are sent, where they are read from."""

from __future__ import annotations

import pytest

from trtspec.errors import UsageError
from trtspec.serve.http.api_key import VARIABLE, ApiKeys, read_keys
from trtspec.serve.openai.errors import RefusalError

KEYS = ApiKeys(["one", "zwölf"])


def test_without_keys_everyone_may_come_in():
    assert not ApiKeys()
    ApiKeys().require({})


@pytest.mark.parametrize(
    "sent", ["Bearer one", "bearer one", "BEARER one", "Bearer  one ", "Bearer zwölf"]
)
def test_each_key_opens(sent):
    KEYS.require({"authorization": sent})


@pytest.mark.parametrize(
    "headers",
    [
        {},
        *(
            {"authorization": sent}
            for sent in (
                *("", "one", "Bearer", "Bearer ", "Bearer two", "Bearer on"),
                *("Bearer onee", "Basic one", "Bearer one two", "Bearer ONE"),
            )
        ),
        {"x-api-key": "one"},
    ],
    ids=str,
)
def test_all_else_does_not(headers):
    with pytest.raises(RefusalError) as caught:
        KEYS.require(headers)
    said = caught.value
    assert (said.status, said.code) == (401, "invalid_api_key")
    assert said.headers == {"WWW-Authenticate": "Bearer"}
    assert "one" not in said.message.replace("one a line", "")


def test_keys_come_from_a_file_one_a_line(tmp_path, monkeypatch):
    monkeypatch.setenv(VARIABLE, "other")
    path = tmp_path / "keys"
    path.write_text("\n  one \n\ntwo\n")
    keys = read_keys(path)
    for key in ("one", "two"):
        keys.require({"authorization": f"Bearer {key}"})
    with pytest.raises(RefusalError):
        keys.require({"authorization": "Bearer other"})


def test_or_from_the_environment(monkeypatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert not read_keys(None)
    monkeypatch.setenv(VARIABLE, "   ")
    assert not read_keys(None)
    monkeypatch.setenv(VARIABLE, " one ")
    read_keys(None).require({"authorization": "Bearer one"})


@pytest.mark.parametrize("content", [None, b"", b"\n \n", b"\xff\xfe"])
def test_a_file_without_keys_is_refused(tmp_path, content):
    """A server that was to have keys must not come up without any."""
    path = tmp_path / "keys"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read_keys(path)
    assert caught.value.problems[0].where == "--api-key-file"
