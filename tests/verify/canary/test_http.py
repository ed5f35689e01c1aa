"""The canary's words to a server: what is sent, and how replies are read."""

from __future__ import annotations

import json

import pytest

from trtspec.bench.http.address import read_address
from trtspec.bench.http.probe import Server
from trtspec.bench.http.reply import Reply
from trtspec.bench.http.stream import AnswerError
from trtspec.verify.canary import Ask
from trtspec.verify.canary.http import HttpTalker, body_of, read_stream, read_whole

ASK = Ask("a", "hello", 8)


def server(api="chat", url="http://127.0.0.1:1") -> Server:
    return Server(read_address(url, {}), "m", api)


def whole(content: object, status: int = 200) -> Reply:
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    return Reply(status=status, kind="application/json", arrivals=[(1.0, body)])


def stream(*events: object, done: bool = True) -> Reply:
    lines = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    lines += [b"data: [DONE]\n\n"] if done else []
    arrivals = [(float(i), line) for i, line in enumerate(lines)]
    return Reply(status=200, kind="text/event-stream", arrivals=arrivals)


def test_a_chat_is_greedy_and_asks_for_counts_only_when_streamed():
    body = body_of(Ask("a", "hello", 8, stop=("x",)), server())

    assert body["messages"] == [{"role": "user", "content": "hello"}]
    assert body["temperature"] == 0.0
    assert body["stop"] == ["x"]
    assert body["stream_options"] == {"include_usage": True}
    unstreamed = body_of(Ask("a", "hello", 8, stream=False), server())
    assert "stream_options" not in unstreamed
    assert "stop" not in unstreamed


def test_completions_take_text_ids_and_conversations():
    said = ({"role": "system", "content": "be"}, {"role": "user", "content": "hi"})

    assert body_of(ASK, server("completions"))["prompt"] == "hello"
    ids = body_of(Ask("a", (1, 2), 8), server("completions"))
    assert ids["prompt"] == [1, 2]
    talk = body_of(Ask("a", "", 8, messages=said), server("completions"))
    assert talk["prompt"] == "be\n\nhi"
    assert body_of(Ask("a", "", 8, messages=said), server())["messages"] == list(said)


USAGE = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


@pytest.mark.parametrize(
    "choice",
    [
        {"message": {"content": "two words"}, "finish_reason": "stop"},
        {"text": "two words", "finish_reason": "stop"},
        {
            "message": {"reasoning_content": "two ", "content": "words"},
            "finish_reason": "stop",
        },
    ],
)
def test_a_whole_answer_is_read(choice):
    heard = read_whole(ASK, whole({"choices": [choice], "usage": USAGE}))

    assert (heard.text, heard.finish) == ("two words", "stop")
    assert (heard.prompt_tokens, heard.completion_tokens) == (3, 2)
    assert heard.total_tokens == 5


@pytest.mark.parametrize(
    "reply",
    [
        whole({"error": "no"}, status=500),
        whole(b"no json"),
        whole({"choices": []}),
        whole([1]),
        Reply(broken="connection refused"),
    ],
)
def test_what_is_no_answer_is_refused(reply):
    with pytest.raises(AnswerError):
        read_whole(ASK, reply)


def test_a_stream_is_joined():
    pieces = [
        {"choices": [{"delta": {"role": "assistant"}}]},
        {"choices": [{"delta": {"content": "two "}}]},
        {"choices": [{"delta": {"content": "words"}, "finish_reason": "length"}]},
        {"choices": [], "usage": USAGE},
    ]

    heard = read_stream(ASK, stream(*pieces))
    assert heard.pieces == ("two ", "words")
    assert (heard.finish, heard.completion_tokens) == ("length", 2)


@pytest.mark.parametrize(
    "reply",
    [
        stream({"choices": [{"delta": {"content": "two "}}]}, done=False),
        stream({"error": {"message": "boom"}}),
        whole({"choices": []}),
    ],
)
def test_a_stream_that_is_none_or_breaks_off_is_refused(reply):
    with pytest.raises(AnswerError):
        read_stream(ASK, reply)


def test_a_server_that_is_not_there_is_an_error():
    from trtspec.errors import RunError

    with pytest.raises(RunError, match="the request failed"):
        HttpTalker(server(), silence=2.0).say([ASK], 1)
