"""Whether a stream is cut at its events wherever its bytes were cut before."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.serve.proxy import events as module
from trtspec.serve.proxy.events import EventSplitter, data_of

LINES = st.sampled_from(
    ['data: {"a": "b"}', "data: [DONE]", ": comment", "event: x", "data: é", "data:"]
)
ENDS = st.sampled_from(["\n\n", "\r\n\r\n"])


@given(st.lists(st.tuples(LINES, ENDS), max_size=8), st.data())
def test_any_cut_gives_the_same_events(parts, data):
    whole = "".join(line + end for line, end in parts).encode()
    places = data.draw(st.lists(st.integers(0, len(whole)), max_size=10))
    bounds = [0, *sorted(places), len(whole)]
    splitter, found = EventSplitter(), []
    for begin, end in pairwise(bounds):
        found += splitter.feed(whole[begin:end])
    assert found == [(line + end).encode() for line, end in parts]
    assert splitter.rest == b""


def test_what_has_no_end_yet_is_kept():
    splitter = EventSplitter()
    assert splitter.feed(b"data: a\n") == []
    assert splitter.rest == b"data: a\n"
    assert splitter.feed(b"\ndata: b") == [b"data: a\n\n"]


def test_event_that_does_not_end_is_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_BYTES", 10)
    with pytest.raises(ValueError, match="more than 10 bytes"):
        EventSplitter().feed(b"data: " + b"x" * 20)


def test_data_are_the_lines_of_that_field():
    assert data_of(b"event: x\ndata: a\ndata:b\n\n") == b"a\nb"
    assert data_of(b"data:  two spaces\r\n\r\n") == b" two spaces"
    assert data_of(b": ping\n\n") == b""
