"""What is added to an answer, and that nothing else of it changes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.serve.proxy.rig import chunk, usage
from trtspec.serve.openai.errors import RefusalError
from trtspec.serve.proxy.annotating import Annotator, error_text
from trtspec.serve.proxy.events import data_of


def event(document) -> bytes:
    return b"data: " + json.dumps(document).encode() + b"\n\n"


def through(annotator, documents):
    """Let events pass; the documents that come out, and the bytes."""
    out = [part for each in documents for part in annotator.event(event(each))]
    return [json.loads(data_of(part)) for part in out], out


def done(annotator):
    return annotator.event(b"data: [DONE]\n\n")


@given(st.lists(st.text(max_size=12), min_size=1, max_size=6))
def test_events_in_the_middle_pass_byte_for_byte(texts):
    annotator = Annotator("ngram", "")
    for text in texts:
        sent = event(chunk(text))
        assert annotator.event(sent) == [sent]
    # whatever the text, what it holds is never taken for a field
    nasty = event(chunk('"finish_reason": "stop", "error": {"choices": []} [DONE]'))
    assert annotator.event(nasty) == [nasty]
    assert not annotator.account.finished


@given(st.text(max_size=20))
def test_last_event_keeps_its_text_and_waits_for_the_counts(text):
    annotator = Annotator("ngram", "why", usage_wanted=False)
    assert annotator.event(event(chunk(text, finish="stop"))) == []
    counts = {**chunk(""), "choices": [], "usage": usage(4)}
    (last,), _ = through(annotator, [counts])
    found = last["choices"][0]
    assert (found["text"], found["finish_reason"]) == (text, "stop")
    figures = found["speculation"]
    assert (figures["steps"], figures["accepted"]) == (1, 2)
    assert figures["lossy"] == "why"
    assert done(annotator) == [b"data: [DONE]\n\n"]
    account = annotator.account
    assert (account.prompt_tokens, account.completion_tokens) == (2, 4)
    assert (account.finished, account.done) == ({0: "stop"}, True)


def test_without_counts_the_last_event_comes_before_done():
    annotator = Annotator("ngram", "")
    annotator.event(event(chunk("a", finish="stop")))
    last, end = done(annotator)
    figures = json.loads(data_of(last))["choices"][0]["speculation"]
    assert (figures["steps"], figures["accepted"]) == (None, None)
    assert end == b"data: [DONE]\n\n"


def test_of_several_choices_each_is_told_at_once_and_without_counts_of_its_own():
    annotator = Annotator("ngram", "", choices=2)
    documents = [chunk("a", finish="stop"), chunk("b", finish="length", index=1)]
    found, _ = through(annotator, documents)
    assert [d["choices"][0]["speculation"]["steps"] for d in found] == [None, None]
    counts = event({**chunk(""), "choices": [], "usage": usage()})
    assert annotator.event(counts) == [counts]
    assert annotator.account.finished == {0: "stop", 1: "length"}


def test_broken_stream_gives_what_was_held_back_before_the_error():
    annotator = Annotator("ngram", "")
    annotator.event(event(chunk("the end", finish="stop")))
    last, error = annotator.broken(RefusalError(502, "gone", code="server_lost"))
    assert json.loads(data_of(last))["choices"][0]["text"] == "the end"
    assert json.loads(data_of(error))["error"]["code"] == "server_lost"


def test_first_content_is_no_opening_of_a_chat():
    annotator = Annotator("ngram", "")
    opening = {"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}
    annotator.event(event(opening))
    assert annotator.account.first_at == 0
    annotator.event(event({"choices": [{"index": 0, "delta": {"content": "a"}}]}))
    assert annotator.account.first_at > 0
    ids = Annotator("ngram", "")
    ids.event(event({"choices": [{"index": 0, "text": "", "token_ids": [3]}]}))
    assert ids.account.first_at > 0


def test_answer_in_one_piece_is_only_added_to():
    document = chunk("abc", finish="stop", usage=usage(4))
    before = json.loads(json.dumps(document))
    found = Annotator("none", "").whole(document)
    figures = found["choices"][0].pop("speculation")
    assert found == before
    assert (figures["enabled"], figures["drafted"]) == (False, 0)


@pytest.mark.parametrize(
    "document", [{}, {"choices": None}, {"choices": [1]}, {"choices": [], "usage": 3}]
)
def test_answers_of_other_forms_do_no_harm(document):
    assert Annotator("ngram", "").whole(dict(document)) == document


def test_events_that_are_no_json_pass():
    annotator = Annotator("ngram", "")
    for sent in (b": ping\n\n", b'data: {"finish_reason": "x\n\n', b"data: error\n\n"):
        assert annotator.event(sent) == [sent]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({"error": "a"}, "a"),
        ({"error": {"message": "a"}}, "a"),
        ({"object": "error", "message": "a"}, "a"),
        ({"detail": "a"}, "a"),
        ({"detail": [{"loc": ["body", "n"], "msg": "a"}, {"msg": "b"}]}, "n: a; b"),
        ({}, ""),
        (3, ""),
    ],
)
def test_messages_are_found_in_every_form(content, said):
    assert error_text(content) == said
