"""What is read of a request, and what the server is sent of it."""

from __future__ import annotations

import pytest
from packaging.version import Version

from trtspec.serve.openai.errors import RefusalError
from trtspec.serve.proxy.asking import (
    count_choices,
    for_server,
    prompt_tokens,
    require_stream_options,
    take_speculation,
    usage_wanted,
)

V1_0, V1_2 = Version("1.0.0"), Version("1.2.1")
CHAT, COMPLETIONS = "/v1/chat/completions", "/v1/completions"


def test_own_field_is_taken_out():
    body = {"speculation": {"enabled": False}, "n": 1}
    assert take_speculation(body).enabled is False
    assert body == {"n": 1}
    assert take_speculation(body) is None
    assert take_speculation({"speculation": None}) is None


@pytest.mark.parametrize("value", [3, [], {"on": True}, {"enabled": "x"}])
def test_own_field_of_another_form_is_refused_by_name(value):
    with pytest.raises(RefusalError) as caught:
        take_speculation({"speculation": value})
    assert caught.value.status == 400
    assert caught.value.param.startswith("speculation")


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ({}, 1),
        ({"prompt": "a"}, 1),
        ({"prompt": [1, 2]}, 1),
        ({"prompt": ["a", "b"], "n": 2}, 4),
        ({"prompt": [[1], [2], [3]]}, 3),
        ({"prompt": []}, 1),
        ({"n": "x"}, 1),
        ({"n": True}, 1),
        ({"n": -1}, 1),
        ({"messages": [1, 2], "n": 3}, 3),
    ],
)
def test_answers_are_prompts_times_n(body, count):
    assert count_choices(body, 8) == count
    if count > 1:
        with pytest.raises(RefusalError):
            count_choices(body, count - 1)


@pytest.mark.parametrize(
    "body",
    [
        {"stream": 1.5},
        {"stream": 0},
        {"stream": "true"},
        {"stream_options": {}},
        {"stream": True, "stream_options": 3},
        {"stream": False, "stream_options": {"include_usage": True}},
    ],
)
def test_streams_that_cannot_be_read_are_refused(body):
    with pytest.raises(RefusalError):
        require_stream_options(body)


def test_counts_are_shown_as_the_server_would_show_them():
    assert not usage_wanted({})
    assert not usage_wanted({"stream_options": None})
    assert usage_wanted({"stream_options": {"include_usage": True}})
    assert usage_wanted({"stream_options": {}})  # true is trtllm-serve's default
    assert not usage_wanted({"stream_options": {"include_usage": False}})


def test_server_is_sent_the_same_in_its_releases_words():
    body = {
        "model": "ours",
        "messages": [],
        "max_completion_tokens": 5,
        "metadata": {"a": "b"},
        "store": True,
        "user": "me",
        "top_k": -1,
        "stream": True,
        "stream_options": {"continuous_usage_stats": True},
        "strange": 1,
    }
    sent = for_server(body, CHAT, "theirs", V1_2)
    assert sent == {
        "model": "theirs",
        "messages": [],
        "max_completion_tokens": 5,
        "user": "me",
        "top_k": 0,
        "stream": True,
        "stream_options": {"continuous_usage_stats": True, "include_usage": True},
        "strange": 1,  # for the server to refuse
    }
    old = for_server(body, CHAT, "theirs", V1_0)
    assert (old["max_tokens"], "max_completion_tokens" in old) == (5, False)
    assert body["model"] == "ours"
    assert "stream_options" not in for_server({"stream": False}, COMPLETIONS, "m", V1_2)


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        ({"prompt": "a b c"}, 3),
        ({"prompt": [7, 8]}, 2),
        ({"prompt": ["a", "b c d"]}, 3),
        ({"prompt": [[1], [1, 2]]}, 2),
        ({"messages": [{"content": "a b"}, {"content": [{"text": "c"}, {}]}, 3]}, 3),
        ({}, 0),
        ({"prompt": None}, 0),
        ({"prompt": [None, "a"]}, 1),
    ],
)
def test_tokens_of_the_longest_prompt(body, tokens):
    assert prompt_tokens(body, lambda text: tuple(text.split())) == tokens
