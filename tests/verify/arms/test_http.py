"""An arm that is a real server on a port: what it is asked, and what it takes."""

import contextlib
import itertools
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.bench.http.events import DONE, chat, usage
from tests.bench.http.mock_server import Script, document, serving
from trtspec.bench.http.address import read_address
from trtspec.bench.http.probe import Server
from trtspec.errors import RunError
from trtspec.run import SamplingParams
from trtspec.verify.arm import Question
from trtspec.verify.arms.http import Extras, HttpArm, body_of

ANSWER = Script((chat("hello ") + chat("there", "stop") + usage(2) + DONE,))
REFUSED = document({"detail": "Unexpected fields"}, "422 Unprocessable Entity")


def server(url="http://127.0.0.1:1", api="chat"):
    return Server(read_address(url, {}), "m", api)


def body(question, api="chat", **extras):
    return json.loads(body_of(question, server(api=api), Extras(**extras)))


HELLO = Question("q", "Hello.", 8)


def test_a_chat_asks_for_all_that_helps():
    assert body(HELLO) == {
        "model": "m",
        "messages": [{"role": "user", "content": "Hello."}],
        "max_tokens": 8,
        "stream": True,
        "stream_options": {"include_usage": True},
        "temperature": 0.0,
        "logprobs": True,
        "top_logprobs": 5,
        "return_token_ids": True,
    }


def test_completions_ask_in_their_own_words():
    found = body(HELLO, "completions")
    assert (found["prompt"], found["logprobs"]) == ("Hello.", 5)
    assert "top_logprobs" not in found


def test_a_plain_request_has_nothing_that_a_server_need_not_know():
    found = body(HELLO, usage=False, logprobs=False, ids=False)
    assert set(found) == {"model", "messages", "max_tokens", "stream", "temperature"}


def test_sampling_goes_along_where_it_is_asked_for():
    sampled = Question("q", "Hello.", 8, SamplingParams(0.7, 40, 0.9, 11))
    found = body(sampled)
    wanted = {"temperature": 0.7, "top_k": 40, "top_p": 0.9, "seed": 11}
    assert wanted.items() <= found.items()


def test_a_conversation_goes_before_the_prompt():
    messages = ({"role": "system", "content": "s"}, {"role": "user", "content": "u"})
    found = body(Question("q", "s\n\nu", 8, messages=messages))
    assert found["messages"] == list(messages)


def test_token_ids_are_sent_to_completions_only():
    ids = Question("q", (3, 4), 8)
    assert body(ids, "completions")["prompt"] == [3, 4]
    with pytest.raises(RunError, match="chat takes no token ids"):
        body(ids)


def asked(count=3):
    return [Question(f"q{i}", f"Say {i}.", 8) for i in range(count)]


def test_questions_are_answered_by_their_ids():
    with serving(ANSWER) as mock:
        answers = HttpArm("on", server(mock.url)).answer(asked(), 2)
    assert list(answers) == ["q0", "q1", "q2"]
    assert answers["q1"].text == "hello there"
    assert mock.most_in_flight <= 2


def refusing(*names):
    """A server that refuses requests with any of these names."""

    def answer(seen):
        return REFUSED if set(names) & set(seen.body) else ANSWER

    return answer


def test_what_a_server_refuses_is_left_out():
    with serving(refusing("return_token_ids", "logprobs")) as mock:
        arm = HttpArm("on", server(mock.url))
        assert arm.extras == Extras(usage=True, logprobs=False, ids=False)
        arm.answer(asked(1), 1)
    assert "stream_options" in mock.seen[-1].body
    assert "logprobs" not in mock.seen[-1].body


def test_a_server_that_takes_all_is_tried_once():
    with serving(ANSWER) as mock:
        arm = HttpArm("on", server(mock.url))
        assert arm.extras == arm.extras == Extras()
    assert len(mock.seen) == 1


def test_a_refusal_that_comes_within_the_stream_counts_too():
    error = Script((b'data: {"error": {"message": "no logprobs with drafts"}}\n\n',))

    def answer(seen):
        return error if "logprobs" in seen.body else ANSWER

    with serving(answer) as mock:
        assert not HttpArm("on", server(mock.url)).extras.logprobs


def test_a_server_that_refuses_everything_is_named():
    with serving(REFUSED) as mock:
        arm = HttpArm("on", server(mock.url))
        with pytest.raises(RunError, match="plain request with status 422") as caught:
            arm.answer(asked(1), 1)
    assert caught.value.problems[0].where == mock.url


def test_a_request_that_fails_is_named_with_its_arm():
    def answer(seen):
        text = seen.body["messages"][0]["content"]
        return document({"detail": "no"}, "400 Bad") if "1" in text else ANSWER

    with serving(answer) as mock:
        arm = HttpArm("off", server(mock.url), off=True)
        with pytest.raises(RunError, match="q1: arm off: the request failed") as caught:
            arm.answer(asked(), 3)
    assert len(caught.value.problems) == 1


@contextlib.contextmanager
def dropping(*dropped):
    """A server that closes the connection in place of answers of these numbers."""
    count = itertools.count()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            if next(count) in dropped:
                self.close_connection = True
                return
            body = b"".join(ANSWER.steps)
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as there:
        threading.Thread(target=there.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{there.server_port}"
        there.shutdown()


def test_a_connection_that_the_server_closed_costs_no_answer():
    """llama.cpp's server closes kept connections after each stream."""
    with dropping(2, 4) as url:
        answers = HttpArm("on", server(url)).answer(asked(3), 1)
    assert [answer.text for answer in answers.values()] == ["hello there"] * 3


def test_a_server_that_always_drops_is_a_failure():
    words = "q0: arm on: the request failed: the server closed"
    with dropping(*range(1, 9)) as url, pytest.raises(RunError, match=words):
        HttpArm("on", server(url)).answer(asked(1), 1)


def test_the_key_is_sent_and_never_shown():
    with serving(ANSWER) as mock:
        found = Server(
            read_address(mock.url, {"OPENAI_API_KEY": "s3cret"}), "m", "chat"
        )
        HttpArm("on", found).answer(asked(1), 1)
    assert mock.seen[-1].headers["authorization"] == "Bearer s3cret"
    assert "s3cret" not in repr(found)


def test_a_server_of_ours_is_asked_not_to_draft():
    found = json.loads(body_of(HELLO, server(), Extras(), speculate=False))
    assert found["speculation"] == {"enabled": False}
    assert "speculation" not in body(HELLO)


def test_an_arm_that_must_not_draft_and_does_fails():
    figures = {"steps": 1, "drafted": 3, "accepted": 1, "lossy": ""}
    drafted = chat("a b", "stop", choice={"speculation": figures})
    script = Script((drafted + usage(2, 9) + DONE,))
    with serving(script) as mock:
        both = server(mock.url)
        answer = HttpArm("on", both).answer([HELLO], 1)["q"]
        assert (answer.steps, answer.drafted, answer.accepted) == (1, 3, 1)
        assert answer.prompt_tokens == 9
        with pytest.raises(RunError, match="although this server is the off arm"):
            HttpArm("off", both, speculate=False).answer([HELLO], 1)
