"""Whether texts end exactly before their stop strings, whole and streamed alike."""

from __future__ import annotations

import itertools
import json

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from tests.serve.proxy.rig import (
    FakeServer,
    chunk,
    events,
    front,
    run,
    text_of,
    until,
    usage,
)
from trtspec.serve.proxy.events import data_of
from trtspec.serve.proxy.pool import ON
from trtspec.serve.proxy.stopping import Stopper, TextCutter, stops_of

TEXTS = st.text(alphabet="ab", max_size=30)
STOPS = st.lists(st.text(alphabet="ab", min_size=1, max_size=4), min_size=1, max_size=3)


def cut(text, stops):
    ends = [(text.find(s) + len(s), text.find(s)) for s in stops if s in text]
    return text[: min(ends)[1]] if ends else text


def split(text, places):
    bounds = [0, *sorted(p % (len(text) + 1) for p in places), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(bounds)]


def event(document):
    return f"data: {json.dumps(document)}\n\n".encode()


@given(TEXTS, STOPS, st.lists(st.integers(0, 99), max_size=8))
def test_any_pieces_give_the_text_before_the_first_stop(text, stops, places):
    cutter = TextCutter(stops)
    given_ = [cutter.add(piece) for piece in split(text, places)]
    assert "".join(given_) + cutter.finish() == cut(text, stops)
    assert bool(cutter.found) == any(stop in text for stop in stops)


@given(TEXTS, STOPS)
def test_no_more_is_held_back_than_may_become_a_stop(text, stops):
    cutter = TextCutter(stops)
    seen = cutter.add(text)
    if not cutter.found:
        held = text[len(seen) :]
        assert not held or any(stop.startswith(held) for stop in stops)


@given(TEXTS, STOPS, st.lists(st.integers(0, 99), max_size=8))
def test_streamed_is_whole_is_cut(text, stops, places):
    stopper = Stopper(stops)
    pieces = split(text, places)
    parts = [event(chunk(p, usage=usage(i + 1))) for i, p in enumerate(pieces)]
    parts.append(event(chunk("", finish="length", usage=usage(len(pieces)))))
    out = []
    for part in parts:
        out += stopper.event(part)
        if stopper.ended:
            break
    documents = [json.loads(data_of(o)) for o in out if b"[DONE]" not in o]
    choices = [c for d in documents for c in d["choices"]]
    whole = Stopper(stops).whole(chunk(text, finish="length"))["choices"][0]
    assert "".join(c["text"] for c in choices) == whole["text"] == cut(text, stops)
    reasons = [c["finish_reason"] for c in choices if c["finish_reason"]]
    assert reasons == [whole["finish_reason"]]
    stopped = any(stop in text for stop in stops)
    assert stopper.ended == stopped
    assert whole["finish_reason"] == ("stop" if stopped else "length")
    if stopped:
        assert documents[-1]["choices"] == []
        assert out[-1] == b"data: [DONE]\n\n"
    shown = documents[:-1] if stopped else documents
    assert not any("usage" in d for d in shown)  # nobody asked for them there


def test_what_needs_no_cut_passes_byte_for_byte():
    stopper = Stopper(["xyz"])
    plain = event(chunk("abc"))
    assert stopper.event(plain) == [plain]
    for odd in (b": ping\n\n", b"data: [DONE]\n\n", event({"error": "a"})):
        assert stopper.event(odd) == [odd]


def test_each_choice_has_an_end_of_its_own():
    stopper = Stopper(["."], choices=2)
    assert len(stopper.event(event(chunk("a.b", index=0)))) == 1
    assert not stopper.ended
    assert stopper.event(event(chunk("more", index=0))) == []
    assert len(stopper.event(event(chunk("go on", index=1)))) == 1
    last = stopper.event(event(chunk(".", index=1)))
    assert stopper.ended
    assert json.loads(data_of(last[0]))["choices"][0]["finish_reason"] == "stop"


def test_chats_are_cut_in_their_content():
    stopper = Stopper(["END"])
    pieces = [
        {"role": "assistant", "content": ""},
        {"content": "a E"},
        {"content": "N"},
    ]
    out = []
    for delta in [*pieces, {"content": "Dx"}]:
        choice = {"index": 0, "delta": delta, "finish_reason": None}
        out += stopper.event(event({"choices": [choice]}))
    documents = [json.loads(data_of(o)) for o in out if b"[DONE]" not in o]
    choices = [c for d in documents for c in d["choices"]]
    assert "".join(c["delta"].get("content", "") for c in choices) == "a "
    assert choices[-1]["finish_reason"] == "stop"
    message = {"index": 0, "message": {"content": "a END"}, "finish_reason": "length"}
    found = Stopper(["END"]).whole({"choices": [message]})
    assert found["choices"][0]["message"]["content"] == "a "


@pytest.mark.parametrize(
    ("body", "stops"),
    [
        ({}, ()),
        ({"stop": None}, ()),
        ({"stop": "a"}, ("a",)),
        ({"stop": ["a", "", 3, "b"]}, ("a", "b")),
        ({"stop": 3}, ()),
        ({"stop": "a", "include_stop_str_in_output": True}, ()),
    ],
)
def test_stops_are_read_as_they_come(body, stops):
    assert stops_of(body) == stops


class Counting(FakeServer):
    """Goes on and on, with token counts in each event if they are asked for."""

    async def _stream(self, request, body):
        reply = web.StreamResponse()
        await reply.prepare(request)
        often = (body.get("stream_options") or {}).get("continuous_usage_stats")
        for index in range(100_000):
            extra = {"usage": usage(index + 1)} if often else {}
            await self._event(reply, chunk(f"w{index} ", average=1.0, **extra))
        return reply


@run
async def test_stop_string_ends_the_request_at_the_server():
    async with Counting().running() as server, front({ON: server}) as there:
        async with there.stream(stop=["9 w10"]) as response:
            found = await events(response)
        assert found[-1] == "[DONE]"
        assert text_of(found) == "".join(f"w{i} " for i in range(9)) + "w"
        last = found[-2]["choices"][0]
        assert (last["finish_reason"], last["stop_reason"]) == ("stop", "9 w10")
        assert last["speculation"]["steps"] == 10
        assert not any("usage" in each for each in found[:-1])
        await until(lambda: server.gone == 1)
        options = {"include_usage": True}
        async with there.stream(stop="w3", stream_options=options) as response:
            found = await events(response)
        assert found[-2]["usage"]["completion_tokens"] == 4
        name = "trtspec:request_success_total"
        assert await there.metric(name, finished_reason="stop") == 2
        assert there.service.pools[ON].admission.inside == 0


@run
async def test_answer_in_one_piece_is_cut_too():
    async with FakeServer().running() as server, front({ON: server}) as there:
        answer = (await there.post(stop="o t")).json()["choices"][0]
        assert (answer["text"], answer["finish_reason"]) == ("one tw", "stop")
        assert server.asked[0][1]["stop"] == "o t"  # the server looks, too
