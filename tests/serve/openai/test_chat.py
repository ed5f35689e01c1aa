"""Conversations: messages, parts, and the fields that only chats have."""

from __future__ import annotations

import pytest

from tests.serve.openai.bodies import read, refusal
from trtspec.serve.openai.chat import ChatRequest


def chat(**fields):
    return read(ChatRequest, **fields)


def wrong(**fields):
    return refusal(ChatRequest, **fields)


def message(content, role="user", **more):
    return {"role": role, "content": content, **more}


@pytest.mark.parametrize("role", ["system", "user", "assistant"])
def test_messages_go_to_the_template_as_they_are(role):
    [one] = chat(messages=[message("hello", role)]).messages
    assert one.for_template() == {"role": role, "content": "hello"}


def test_a_developer_speaks_as_the_system():
    [one] = chat(messages=[message("hello", "developer")]).messages
    assert one.for_template()["role"] == "system"


def test_parts_are_joined():
    parts = [{"type": "text", "text": "a "}, {"type": "text", "text": "b"}]
    [one] = chat(messages=[message(parts)]).messages
    assert one.for_template()["content"] == "a b"


def test_names_are_taken():
    chat(messages=[message("x", name="me")])


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        ([], "messages"),
        ("hello", "messages"),
        ([message("x", "tool")], "messages.0.role"),
        ([message("x"), message("x", "robot")], "messages.1.role"),
        ([{"role": "user"}], "messages.0.content"),
        ([message(5)], "messages.0.content"),
        ([message(None)], "messages.0.content"),
        ([message([])], "messages.0.content"),
        ([message("x", tool_calls=[])], "messages.0.tool_calls"),
        ([message([{"type": "image_url", "image_url": {}}])], "messages.0.content"),
        ([message("x")] * 1001, "messages"),
    ],
)
def test_messages_that_are_refused(messages, param):
    said = wrong(messages=messages)
    assert said.param.startswith(param)
    assert said.status == 400


def test_no_messages_at_all():
    said = wrong(messages=None)
    assert said.param == "messages"


@pytest.mark.parametrize(
    ("fields", "most"),
    [
        ({}, None),
        ({"max_tokens": 5}, 5),
        ({"max_completion_tokens": 7}, 7),
        ({"max_completion_tokens": 7, "max_tokens": 5}, 7),
    ],
)
def test_most_tokens_under_either_name(fields, most):
    assert chat(**fields).wanted_tokens == most


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ({}, None),
        ({"logprobs": False}, None),
        ({"logprobs": None}, None),
        ({"logprobs": True}, 0),
        ({"logprobs": True, "top_logprobs": 0}, 0),
        ({"logprobs": True, "top_logprobs": 5}, 5),
        ({"logprobs": False, "top_logprobs": 0}, None),
    ],
)
def test_logprobs(fields, wanted):
    assert chat(**fields).wanted_logprobs == wanted


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("logprobs", (True, False), (1, 5, "yes")),
        ("top_logprobs", (0, 20), (21, -1, True)),
        ("response_format", ({"type": "text"},), ({"type": "json_object"}, "text")),
        ("tools", ([], None), ([{"type": "function"}], {})),
        ("tool_choice", ("none", None), ("auto", "required", {})),
        ("modalities", (["text"], None), (["audio"], ["text", "audio"], "text")),
        ("max_completion_tokens", (1, None), (0, "5")),
    ],
)
def test_fields_of_chats(field, good, bad):
    for value in good:
        chat(**{field: value})
    for value in bad:
        said = wrong(**{field: value})
        assert said.param.split(".")[0] == field


def test_completions_fields_are_not_a_chats():
    assert wrong(prompt="x").param == "prompt"
    assert wrong(echo=False).param == "echo"
