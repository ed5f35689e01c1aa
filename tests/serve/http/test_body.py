"""Bodies: read to their end, up to a limit and a time, and only as JSON."""

from __future__ import annotations

import asyncio
import json

import pytest
from starlette.requests import ClientDisconnect, Request

from trtspec.serve.http.body import BodyRoom, BodyShare, read_document
from trtspec.serve.openai.completion import CompletionRequest
from trtspec.serve.openai.errors import RefusalError

GOOD = json.dumps({"model": "toy", "prompt": "w3"}).encode()


def read(*parts, most=1000, seconds=20.0, length=None, end="http.request", share=None):
    headers = [] if length is None else [(b"content-length", str(length).encode())]
    left = list(parts)

    async def receive():
        if left:
            part = left.pop(0)
            if part is None:
                await asyncio.sleep(60)
            return {"type": "http.request", "body": part, "more_body": True}
        return {"type": end, "body": b"", "more_body": False}

    request = Request({"type": "http", "method": "POST", "headers": headers}, receive)
    share = share or BodyShare(BodyRoom(10**6))
    return asyncio.run(read_document(request, CompletionRequest, most, seconds, share))


def refused(*parts, **options) -> RefusalError:
    with pytest.raises(RefusalError) as caught:
        read(*parts, **options)
    return caught.value


def test_a_body_may_come_in_pieces():
    assert read(*(GOOD[i : i + 1] for i in range(len(GOOD)))).prompt == "w3"


def test_up_to_the_limit_and_not_beyond():
    assert read(GOOD, most=len(GOOD)).prompt == "w3"
    said = refused(GOOD, most=len(GOOD) - 1)
    assert (said.status, said.code) == (413, "body_too_large")
    assert str(len(GOOD) - 1) in said.message
    assert said.headers["Connection"] == "close"


def test_a_length_that_is_too_large_is_refused_unread():
    said = refused(None, most=10, length=11)
    assert said.status == 413


def test_a_false_length_does_not_let_more_in():
    assert refused(GOOD, b" " * 50, most=len(GOOD), length=1).status == 413


def test_a_slow_body_is_given_up():
    said = refused(GOOD[:3], None, seconds=0.05)
    assert said.status == 408
    assert "0.05 s" in said.message


def test_who_leaves_meanwhile_is_gone():
    with pytest.raises(ClientDisconnect):
        read(GOOD, end="http.disconnect")


@pytest.mark.parametrize(
    "body",
    [
        *(b"", b"{", b"[]", b"null", b'"x"', b"5", b"\xff", b"\xef\xbb\xbf{}"),
        *(GOOD + b"}", b'{"model": "\xff"}', b"[" * 5000, b'{"a":' * 5000),
        *(b'{"model": "toy", "prompt": "\\ud800"}', b"NaN"),
    ],
    ids=lambda body: repr(body[:20]),
)
def test_what_is_no_json_object_is_refused_in_words(body):
    said = refused(body, most=100_000)
    assert said.status == 400
    assert said.message
    assert len(said.message) < 1000


def test_keys_that_come_twice_are_one():
    assert read(b'{"model": "a", "model": "toy", "prompt": "w3"}').model == "toy"


@pytest.mark.parametrize("said", [True, False])
def test_bodies_share_a_room(said):
    room, size = BodyRoom(2 * len(GOOD)), len(GOOD) if said else None
    first, second, third = (BodyShare(room) for _ in range(3))
    read(GOOD, length=size, share=first)
    read(GOOD[:5], GOOD[5:], length=size, share=second)
    assert room.held == 2 * len(GOOD)
    refusal = refused(GOOD, length=size, share=third)
    assert (refusal.status, refusal.code) == (429, "bodies_full")
    assert refusal.headers["Retry-After"] == "1"
    third.release()
    first.release()
    first.release()
    read(GOOD, length=size, share=third)
    second.release()
    third.release()
    assert room.held == 0


def test_a_body_that_is_alone_has_room():
    room = BodyRoom(1)
    assert read(GOOD, length=len(GOOD), share=BodyShare(room)).prompt == "w3"
