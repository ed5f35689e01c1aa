"""Completions as documents, whole and in pieces."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.serve.writing.samples import chunk, done, head, logprob, taken
from trtspec.serve.openai.answers import Usage
from trtspec.serve.writing.base import Choice
from trtspec.serve.writing.completion import CompletionWriter

USAGE = Usage(prompt_tokens=3, completion_tokens=2, total_tokens=5)


def piece(writer, choice, one):
    found = writer.piece(choice, one)
    return None if found is None else json.loads(found)["choices"][0]


def test_whole():
    choices = [
        taken(chunk((7,), "a"), chunk((8,), "b", done())),
        taken(chunk((), "", done((), "stop")), index=1, prompt=1),
    ]
    found = json.loads(CompletionWriter(head()).whole(choices, USAGE))
    assert found["object"] == "text_completion"
    assert [c["text"] for c in found["choices"]] == ["ab", ""]
    assert [c["finish_reason"] for c in found["choices"]] == ["stop", "stop"]
    assert found["usage"] == USAGE.model_dump()


def test_pieces():
    writer, choice = CompletionWriter(head()), Choice(0, 0)
    assert piece(writer, choice, chunk((7,), "")) is None
    begin = piece(writer, choice, chunk((8,), "a"))
    end = piece(writer, choice, chunk((), "", done(finish="length")))
    assert (begin["text"], begin["finish_reason"]) == ("a", None)
    assert (end["text"], end["finish_reason"]) == ("", "length")
    assert "speculation" not in begin
    assert end["speculation"]["steps"] == 2


def test_each_choice_has_its_own_prompts_tokens():
    writer = CompletionWriter(head(token_ids=True))
    second = Choice(1, 1)
    begin = piece(writer, second, chunk((7,), ""))
    assert begin["prompt_token_ids"] == [5]
    assert begin["token_ids"] == [7]
    assert "prompt_token_ids" not in piece(writer, second, chunk((8,), "x"))
    whole = json.loads(writer.whole([taken(chunk((7,), "x", done()), prompt=1)], USAGE))
    assert whole["choices"][0]["prompt_token_ids"] == [5]


def test_logprobs_are_columns():
    first = logprob(7, -0.5, (8, -0.25), (7, -0.5))
    entries = [first, logprob(10, -1.0), logprob(9, -2.0)]
    found = piece(
        CompletionWriter(head()),
        Choice(0, 0),
        chunk((7, 10, 9), "x", logprobs=entries),
    )["logprobs"]
    assert found == {
        "tokens": [" w7", " w10", " w9"],
        "token_logprobs": [-0.5, -1.0, -2.0],
        "top_logprobs": [{" w8": -0.25, " w7": -0.5}, {}, {}],
        "text_offset": [0, 3, 7],
    }


def test_of_tokens_that_read_alike_the_likeliest_is_told():
    entry = logprob(7, -0.5, (7, -0.5), (9000, -1.0), (9001, -2.0))
    found = piece(CompletionWriter(head()), Choice(0, 0), chunk(logprobs=[entry]))[
        "logprobs"
    ]
    assert found["top_logprobs"] == [{" w7": -0.5, "": -1.0}]


@given(st.lists(st.lists(st.integers(2, 40), max_size=4), min_size=1, max_size=6))
def test_columns_of_all_pieces_are_those_of_the_whole(parts):
    """Offsets go on from piece to piece."""
    writer = CompletionWriter(head())
    end = done([t for part in parts for t in part])
    chunks = [
        chunk(part, "x", end if i == len(parts) - 1 else None, map(logprob, part))
        for i, part in enumerate(parts)
    ]
    streamed = Choice(0, 0)
    columns = {}
    for one in chunks:
        found = piece(writer, streamed, one)["logprobs"] or {}
        for name, values in found.items():
            columns.setdefault(name, []).extend(values)
    whole = json.loads(writer.whole([taken(*chunks)], USAGE))["choices"][0]
    assert columns == (whole["logprobs"] or {})


def test_the_last_chunk_has_usage_and_no_choices():
    found = json.loads(CompletionWriter(head()).last(USAGE))
    assert found["choices"] == []
    assert found["usage"]["total_tokens"] == 5
