"""One notion of an answer: the assistant's turns, and what a file expects to follow."""

from __future__ import annotations

import json

import pytest

from trtspec.recipe.answers import answers_of
from trtspec.recipe.prompt_layouts import ANSWERS, answer_of
from trtspec.recipe.workload import load_prompts


def said(tmp_path, line):
    path = tmp_path / "w.jsonl"
    path.write_text(json.dumps(line))
    (prompt,) = load_prompts(path)
    return [
        (tuple(m["content"] for m in answer.before), answer.text)
        for answer in answers_of(prompt)
    ]


def message(role, content):
    return {"role": role, "content": content}


def test_a_prompt_alone_has_no_answer(tmp_path):
    assert said(tmp_path, {"prompt": "a"}) == []


@pytest.mark.parametrize("key", ANSWERS)
def test_an_answer_follows_its_prompt(tmp_path, key):
    assert said(tmp_path, {"prompt": "a", key: "b"}) == [(("a",), "b")]


def test_turns_of_the_assistant_are_answers_to_what_stands_before(tmp_path):
    messages = [
        message("system", "s"),
        message("user", "a"),
        message("assistant", "b"),
        message("user", "c"),
    ]
    assert said(tmp_path, {"messages": messages, "answer": "d"}) == [
        (("s", "a"), "b"),
        (("s", "a", "b", "c"), "d"),
    ]


@pytest.mark.parametrize(
    ("entry", "answer"),
    [
        ({"reference": ["first", "second"]}, "first"),  # Spec-Bench
        ({"answer": 7, "response": "text"}, "text"),
        ({"answer": ""}, ""),
        ({"answer": []}, ""),
        ({"answer": [7]}, ""),
        ({"answer": {"a": 1}}, ""),
        ({"answer": None}, ""),
        ({"answer": "\ud800"}, ""),
        ({}, ""),
    ],
    ids=str,
)
def test_what_is_no_text_is_no_answer(entry, answer):
    assert answer_of(entry) == answer
