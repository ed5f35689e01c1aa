"""Answers to chats as documents, whole and in pieces."""

from __future__ import annotations

import json

import pytest

from tests.serve.writing.samples import chunk, done, head, logprob, taken
from trtspec.serve.openai.answers import Usage
from trtspec.serve.writing.base import Choice
from trtspec.serve.writing.chat import ChatWriter

USAGE = Usage(prompt_tokens=3, completion_tokens=2, total_tokens=5)


def pieces(writer, choice, *chunks):
    found = [writer.piece(choice, one) for one in chunks]
    return [None if one is None else json.loads(one) for one in found]


def test_whole():
    choices = [
        taken(chunk(completion=done())),
        taken(chunk(), chunk((), "!", done()), index=1),
    ]
    found = json.loads(ChatWriter(head()).whole(choices, USAGE))
    assert (found["id"], found["created"], found["model"]) == ("cmpl-1", 5, "toy")
    assert found["object"] == "chat.completion"
    assert [c["index"] for c in found["choices"]] == [0, 1]
    assert found["choices"][1]["message"]["content"] == " w7!"
    assert found["usage"] == USAGE.model_dump()
    assert "prompt_token_ids" not in found


def test_pieces():
    first, nothing, last = pieces(
        ChatWriter(head()),
        Choice(1, 0),
        chunk((7,), "a"),
        chunk((8,), ""),
        chunk((9,), "b", done(finish="length")),
    )
    assert nothing is None
    [begin], [end] = first["choices"], last["choices"]
    assert begin["delta"] == {"role": "assistant", "content": "a"}
    assert begin["finish_reason"] is None
    assert "speculation" not in begin
    assert end["delta"] == {"content": "b"}
    assert end["finish_reason"] == "length"
    assert end["speculation"]["accepted"] == 1
    assert {begin["index"], end["index"]} == {1}
    assert first["object"] == "chat.completion.chunk"


def test_a_piece_that_says_nothing_does_not_take_the_role_with_it():
    nothing, first = pieces(
        ChatWriter(head()), Choice(0, 0), chunk((7,), ""), chunk((8,), "é")
    )
    assert nothing is None
    assert first["choices"][0]["delta"]["role"] == "assistant"


def test_token_ids_where_they_are_wanted():
    writer = ChatWriter(head(token_ids=True))
    first, last = pieces(
        writer, Choice(0, 0), chunk((7, 8), ""), chunk((9,), "x", done())
    )
    assert first["prompt_token_ids"] == [3, 4]
    assert first["choices"][0]["token_ids"] == [7, 8]
    assert "prompt_token_ids" not in last
    whole = json.loads(writer.whole([taken(chunk((7, 8), "x", done()))], USAGE))
    assert whole["choices"][0]["token_ids"] == [7, 8]
    assert whole["prompt_token_ids"] == [3, 4]


def test_logprobs_with_text_and_bytes():
    found = logprob(7, -0.5, (8, -0.25), (7, -0.5))
    [piece] = pieces(ChatWriter(head()), Choice(0, 0), chunk(logprobs=[found]))
    [one] = piece["choices"][0]["logprobs"]["content"]
    assert (one["token"], one["logprob"], one["bytes"]) == (" w7", -0.5, [32, 119, 55])
    assert [t["token"] for t in one["top_logprobs"]] == [" w8", " w7"]
    assert [t["logprob"] for t in one["top_logprobs"]] == [-0.25, -0.5]


def test_a_token_without_known_bytes_has_null():
    [piece] = pieces(
        ChatWriter(head()), Choice(0, 0), chunk(logprobs=[logprob(9999, -1.0)])
    )
    [one] = piece["choices"][0]["logprobs"]["content"]
    assert one["bytes"] is None


def test_the_last_chunk_has_usage_and_no_choices():
    found = json.loads(ChatWriter(head()).last(USAGE))
    assert found["choices"] == []
    assert found["usage"]["total_tokens"] == 5


def test_an_answer_that_has_not_ended_is_not_written_whole():
    with pytest.raises(AssertionError):
        ChatWriter(head()).whole([taken(chunk())], USAGE)
