"""Requests say what is asked for, and nothing that a strict server would refuse."""

from __future__ import annotations

import json

from tests.bench.http.events import call
from trtspec.bench.driver import BenchPrompt, Call
from trtspec.bench.http.body import request_body
from trtspec.methods import NGram
from trtspec.run import SamplingParams

TALK = BenchPrompt(
    "p1",
    "chat",
    (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Größe?"},
    ),
)


def body(asked, api="chat"):
    return json.loads(request_body(asked, "m", api))


def test_a_greedy_chat():
    assert body(call(output_tokens=5)) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Say it."}],
        "max_tokens": 5,
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.0,
        "top_p": 1.0,
        "seed": 0,
    }


def test_sampling_is_said_whole():
    asked = call(sampling=SamplingParams(temperature=0.7, top_k=4, top_p=0.9, seed=3))
    found = body(asked)
    told = {key: found[key] for key in ("temperature", "top_k", "top_p", "seed")}
    assert told == {"temperature": 0.7, "top_k": 4, "top_p": 0.9, "seed": 3}


def test_fixed_lengths_ignore_the_end():
    assert body(call(ignore_end=True))["ignore_eos"] is True


def test_a_conversation_keeps_its_messages():
    found = body(Call("p1", TALK, 5, SamplingParams()))
    assert found["messages"] == [dict(message) for message in TALK.messages]


def test_completions_get_the_texts_alone():
    found = body(Call("p1", TALK, 5, SamplingParams()), "completions")
    assert found["prompt"] == "Be brief.\n\nGröße?"
    assert "messages" not in found


def test_a_single_text_is_sent_as_it_is():
    assert body(call(), "completions")["prompt"] == "Say it."


def speculation(**asked):
    found = json.loads(request_body(call(**asked), "m", "chat", switchable=True))
    return found.get("speculation")


def test_a_server_that_takes_it_is_asked_not_to_draft():
    assert speculation(speculate=False) == {"enabled": False}
    assert speculation() is None  # what it does anyway


def test_a_draft_length_of_its_own_goes_along():
    three = NGram(method="ngram", draft_length=3)
    assert speculation(speculation=three) == {"draft_length": 3}
    by_load = NGram(method="ngram", draft_length={1: 4, 8: 2})
    assert speculation(speculation=by_load) is None


def test_other_servers_are_asked_nothing_of_speculation():
    assert "speculation" not in body(call(speculate=False))
