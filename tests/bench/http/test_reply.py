"""Events come out whole and with their own time, wherever the stream was cut."""

from __future__ import annotations

import pytest

from tests.bench.http.events import DONE, chat
from trtspec.bench.http.reply import Event, read_events

STREAM = chat("naïve 漢字 🚀") + chat("b") + DONE


def data(events):
    return [event.data for event in events]


def test_a_cut_anywhere_changes_no_event():
    whole = data(read_events([(1.0, STREAM)]))
    assert len(whole) == 3
    for cut in range(len(STREAM) + 1):
        pieces = [(1.0, STREAM[:cut]), (2.0, STREAM[cut:])]
        assert data(read_events(pieces)) == whole


def test_a_cut_anywhere_gives_an_event_the_time_of_the_end_of_its_data():
    first = STREAM.index(b"\n") + 1  # with its line end
    for cut in range(len(STREAM) + 1):
        pieces = [(1.0, STREAM[:cut]), (2.0, STREAM[cut:])]
        assert next(iter(read_events(pieces))).time == (1.0 if cut >= first else 2.0)


def test_one_byte_at_a_time():
    pieces = [(float(i), STREAM[i : i + 1]) for i in range(len(STREAM))]
    events = list(read_events(pieces))
    assert data(events) == data(read_events([(0.0, STREAM)]))
    assert events[-1].time == len(STREAM) - 2


def test_events_of_one_piece_have_its_time():
    assert [event.time for event in read_events([(5.0, STREAM)])] == [5.0] * 3


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data:a\n\n", [b"a"]),
        (b'data: {"x": 1} \n\n', [b'{"x": 1}']),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b": ping\n\nevent: x\nid: 1\ndata: a\n\n\n\n", [b"a"]),
        (b"data: a\n\ndata: [DONE]", [b"a", b"[DONE]"]),
        (b"data: a\n", [b"a"]),
        (b"{}", []),
        (b"", []),
    ],
    ids=[
        "CRLF",
        "no space",
        "a space behind",
        "two lines",
        "comments and fields",
        "no line end at the end",
        "no empty line at the end",
        "no event",
        "nothing",
    ],
)
def test_what_servers_write(stream, expected):
    assert data(read_events([(1.0, stream)])) == expected


def test_an_end_without_a_line_end_has_the_time_of_the_last_piece():
    events = list(read_events([(1.0, b"data: [DO"), (2.0, b"NE]")]))
    assert events == [Event(2.0, b"[DONE]")]
