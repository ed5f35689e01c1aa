"""Addresses are read in every form users write, and show no credentials."""

from __future__ import annotations

import base64

import pytest

from trtspec.bench.http.address import API_KEY, read_address, shown
from trtspec.errors import UsageError


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://host:8000", "http://host:8000"),
        ("http://host:8000/", "http://host:8000"),
        ("http://host:8000/v1", "http://host:8000"),
        ("http://host:8000/v1/", "http://host:8000"),
        ("http://host/v1/chat/completions", "http://host"),
        ("http://host/v1/completions", "http://host"),
        ("https://host/proxy/v1", "https://host/proxy"),
        ("http://[::1]:8000/v1", "http://[::1]:8000"),
        ("http://user:secret@host:8000/v1", "http://host:8000"),
    ],
)
def test_the_base_of_an_address(text, url):
    address = read_address(text, {})
    assert address.url == url
    assert address.endpoint("chat") == url + "/v1/chat/completions"
    assert address.endpoint("completions") == url + "/v1/completions"


@pytest.mark.parametrize(
    "text",
    [
        "host:8000",
        "ftp://host",
        "http://",
        "http://host:port",
        "http://[::1",
        "http://h:0",
    ],
)
def test_what_is_no_address_is_refused(text):
    with pytest.raises(UsageError, match="no address"):
        read_address(text, {})


@pytest.mark.parametrize("text", ["http://host?key=secret", "http://host#secret"])
def test_a_query_is_refused_and_not_shown(text):
    with pytest.raises(UsageError) as caught:
        read_address(text, {})
    assert "secret" not in str(caught.value)


def test_a_name_and_password_are_sent_and_not_shown():
    address = read_address("http://user:s%40cret@host", {API_KEY: "sk-key"})
    kind, _, value = address.authorization.partition(" ")
    assert (kind, base64.b64decode(value)) == ("Basic", b"user:s@cret")
    assert "s@cret" not in repr(address)
    assert value not in repr(address)


def test_the_key_is_sent_and_not_shown():
    address = read_address("http://host", {API_KEY: " sk-key\n"})
    assert address.authorization == "Bearer sk-key"
    assert "sk-key" not in repr(address)


def test_without_a_key_nothing_is_sent():
    assert read_address("http://host", {}).authorization == ""


def test_a_key_that_no_header_can_hold_is_refused_and_not_shown():
    with pytest.raises(UsageError) as caught:
        read_address("http://host", {API_KEY: "sk-kéy"})
    assert "sk-" not in str(caught.value)


def test_a_wrong_address_does_not_show_its_password():
    with pytest.raises(UsageError) as caught:
        read_address("http://user:secret@host:port", {})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("off=http://user:secret@host:8000", "off=http://host:8000"),
        ("https://token@host/v1", "https://host/v1"),
        ("http://host/a@b", "http://host/a@b"),
        ("--prompts", "--prompts"),
    ],
)
def test_an_argument_is_shown_without_credentials(text, expected):
    assert shown(text) == expected


@pytest.mark.parametrize(
    ("host", "here"),
    [("localhost", True), ("127.0.0.1", True), ("[::1]", True), ("10.0.0.1", False)],
)
def test_which_server_is_on_this_machine(host, here):
    assert read_address(f"http://{host}:80", {}).here is here
