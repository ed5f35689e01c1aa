"""What each path answers over a real connection."""

from __future__ import annotations

import json
import math
import re

import pytest

from tests.serve.openai.bodies import CHAT, COMPLETION
from tests.serve.replies import read_reply
from tests.serve.serving import until

BOTH = pytest.mark.parametrize(
    ("path", "least"),
    [("/v1/chat/completions", CHAT), ("/v1/completions", COMPLETION)],
)


def ask(client, path, **body):
    body.setdefault("max_tokens", 4)
    answer = client.post(path, json={"temperature": 0, **body})
    return answer, read_reply(answer.status_code, answer.text, bool(body.get("stream")))


@BOTH
def test_an_answer_has_openais_form(client, path, least):
    answer, _ = ask(client, path, **least)
    found = answer.json()
    assert answer.headers["content-type"] == "application/json"
    chat = path.startswith("/v1/chat")
    assert found["object"] == ("chat.completion" if chat else "text_completion")
    assert re.fullmatch(r"(chatcmpl|cmpl)-[0-9a-f]{24}", found["id"])
    assert answer.headers["x-request-id"] == found["id"]
    assert found["id"].startswith("chatcmpl") == chat
    assert found["model"] == "toy"
    [choice] = found["choices"]
    assert choice["index"] == 0
    assert choice["finish_reason"] == "length"
    assert choice["speculation"]["method"] == "ngram"
    assert found["usage"]["completion_tokens"] == 4


@BOTH
def test_a_stream_is_events_and_done(client, path, least):
    answer, reply = ask(client, path, **least, stream=True, max_tokens=6)
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert answer.text.endswith("data: [DONE]\n\n")
    assert reply.usage is None
    ids = {document["id"] for document in reply.documents}
    assert ids == {answer.headers["x-request-id"]}
    finishes = [d["choices"][0]["finish_reason"] for d in reply.documents]
    assert finishes[:-1] == [None] * (len(finishes) - 1)
    assert finishes[-1] == "length"
    assert reply.answers[0].figures["steps"] >= 1


@BOTH
def test_usage_comes_last_and_alone_if_asked_for(client, path, least):
    _, reply = ask(
        client, path, **least, stream=True, stream_options={"include_usage": True}
    )
    *others, last = reply.documents
    assert last["choices"] == []
    assert last["usage"]["completion_tokens"] == 4
    assert all(d["usage"] is None and d["choices"] for d in others)


def test_a_chat_stream_tells_the_role_once_for_each_choice(client):
    _, reply = ask(client, "/v1/chat/completions", **CHAT, stream=True, n=2)
    roles = {0: [], 1: []}
    for document in reply.documents:
        for choice in document["choices"]:
            roles[choice["index"]].append(choice["delta"].get("role"))
    for found in roles.values():
        assert found[0] == "assistant"
        assert set(found[1:]) == {None}


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("prompt", "count"),
    [("w3 w4", 1), ([3, 4], 1), (["w3 w4", "w5"], 2), ([[3, 4], [5]], 2)],
)
def test_prompts_of_all_four_kinds_times_n(client, prompt, count, stream):
    fields = {"prompt": prompt, "n": 2, "return_token_ids": True, "seed": 1}
    fields["temperature"] = 1
    _, reply = ask(client, "/v1/completions", model="toy", stream=stream, **fields)
    assert len(reply.answers) == 2 * count
    prompts = [[3, 4], [3, 4], [5], [5]][: 2 * count]
    assert [one.prompt for one in reply.answers] == prompts
    texts = [one.text for one in reply.answers]
    for index, text in enumerate(texts):
        one = {"prompt": prompts[index], "seed": 1 + index, "temperature": 1}
        _, alone = ask(client, "/v1/completions", model="toy", **one)
        assert alone.answers[0].text == text


def test_a_prompt_counts_once_however_many_answers_it_has(client):
    _, reply = ask(client, "/v1/completions", model="toy", prompt="w3 w4 w5", n=3)
    assert reply.usage == {
        "prompt_tokens": 3,
        "completion_tokens": 12,
        "total_tokens": 15,
    }


def test_text_is_not_templated_and_a_chat_is(client):
    fields = {"return_token_ids": True, "model": "toy"}
    _, raw = ask(client, "/v1/completions", prompt="w7 w8", **fields)
    assert raw.answers[0].prompt == [7, 8]
    answer, _ = ask(
        client,
        "/v1/chat/completions",
        messages=[{"role": "user", "content": "w7 w8"}],
        **fields,
    )
    assert answer.json()["prompt_token_ids"] == [2, 7, 8, 3]


def test_a_conversation_that_the_template_refuses(client, server, monkeypatch):
    from trtspec.errors import UsageError

    def refuse(messages):
        raise UsageError("roles must alternate", where="/a/path/of/ours")

    monkeypatch.setattr(server.service.codec, "encode_chat", refuse)
    answer, reply = ask(client, "/v1/chat/completions", **CHAT)
    assert answer.status_code == 400
    assert reply.error["param"] == "messages"
    assert reply.error["message"] == "roles must alternate"


def test_logprobs_of_chats_and_completions_are_the_same(client):
    """Both kinds of documents say what one engine said."""
    prompt = {"prompt": [2, 3, 3], "logprobs": 3}  # as the template writes "w3"
    first, text = ask(client, "/v1/completions", model="toy", **prompt)
    second, chat = ask(
        client, "/v1/chat/completions", **CHAT, logprobs=True, top_logprobs=3
    )
    assert text.answers[0].text == chat.answers[0].text
    for one, other in zip(
        text.answers[0].logprobs, chat.answers[0].logprobs, strict=True
    ):
        assert one[0] == other[0]
        assert math.isclose(one[1], other[1], abs_tol=1e-4)
        assert [t for t, _ in one[2]] == [t for t, _ in other[2]]
    found = first.json()["choices"][0]["logprobs"]
    lengths = {len(column) for column in found.values()}
    assert lengths == {4}
    assert found["text_offset"][0] == 0
    content = second.json()["choices"][0]["logprobs"]["content"]
    assert all(bytes(one["bytes"]).decode() == one["token"] for one in content)
    best = [[t["logprob"] for t in one["top_logprobs"]] for one in content]
    assert all(values == sorted(values, reverse=True) for values in best)


@BOTH
def test_without_being_asked_for_there_are_no_extensions(client, path, least):
    answer, _ = ask(client, path, **least)
    text = answer.text
    assert "token_ids" not in text
    assert answer.json()["choices"][0]["logprobs"] is None


def test_top_logprobs_need_logprobs(client):
    answer, reply = ask(client, "/v1/chat/completions", **CHAT, top_logprobs=2)
    assert answer.status_code == 400
    assert reply.error["param"] == "top_logprobs"


@BOTH
def test_stream_options_need_a_stream(client, path, least):
    answer, reply = ask(client, path, **least, stream_options={"include_usage": True})
    assert answer.status_code == 400
    assert reply.error["param"] == "stream_options"


@BOTH
def test_off_is_the_same_text_without_drafts(client, path, least):
    _, on = ask(client, path, **least, max_tokens=30, ignore_eos=True)
    off_body = {"speculation": {"enabled": False}, "max_tokens": 30}
    _, off = ask(client, path, **least, **off_body, ignore_eos=True)
    assert on.answers[0].text == off.answers[0].text
    assert on.answers[0].figures["drafted"] > 0
    assert on.answers[0].figures["enabled"]
    assert off.answers[0].figures["drafted"] == 0
    assert not off.answers[0].figures["enabled"]


def test_figures_fit_together(client):
    fields = {"max_tokens": 36, "ignore_eos": True, "n": 3, "temperature": 0.6}
    _, reply = ask(client, "/v1/completions", **COMPLETION, **fields, seed=1)
    for one in reply.answers:
        found = one.figures
        rate = found["accepted"] / found["drafted"] if found["drafted"] else None
        assert found["acceptance_rate"] == rate
        assert found["acceptance_length"] == 1 + found["accepted"] / found["steps"]


def test_the_model_is_listed_with_the_artifact_behind_it(client):
    [card] = client.get("/v1/models").json()["data"]
    assert (card["id"], card["object"], card["max_model_len"]) == ("toy", "model", 60)
    assert card["trtspec"]["method"] == "none"  # as the identity says
    assert card["trtspec"]["longest_draft"] == 3
    assert client.get("/v1/models/toy").json() == card
    answer = client.get("/v1/models/a/b")
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "model_not_found"


def test_names_with_slashes_are_found(client, server, monkeypatch):
    monkeypatch.setattr(server.service, "name", "org/model")
    assert client.get("/v1/models/org/model").json()["id"] == "org/model"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nope", 404),
        ("GET", "/v1/embeddings", 404),
        ("POST", "/v1/embeddings", 404),
        ("GET", "/v1/completions", 405),
        ("DELETE", "/v1/models/toy", 405),
        ("GET", "/v1/completions/", 404),
    ],
)
def test_paths_that_are_not_there(client, method, path, status):
    answer = client.request(method, path)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert path in error["message"]
    assert "/openapi.json" in error["message"]


def test_health_says_what_is_wrong(client, server, monkeypatch):
    assert client.get("/health").json() == {"status": "ok", "reason": ""}
    assert client.get("/ready").json() == {"status": "ready", "reason": ""}
    monkeypatch.setattr(server.service.driver, "idle_seconds", lambda: 1e6)
    for path in ("/health", "/ready"):
        answer = client.get(path)
        assert answer.status_code == 503
        assert "no engine step for" in answer.json()["reason"]
    metrics = client.get("/metrics").text
    assert 'trtspec:ready{model_name="toy"} 0.0' in metrics


def test_a_broken_engine_is_neither_healthy_nor_ready(client, server, monkeypatch):
    monkeypatch.setattr(type(server.service), "health", lambda self: "broken")
    assert client.get("/health").status_code == 503
    assert client.get("/ready").json()["reason"] == "broken"


def test_requests_are_logged_without_their_text(client, server):
    begin = len(server.lines)
    ask(client, "/v1/completions", model="toy", prompt="w9 w11 w13")
    ask(client, "/v1/completions", model="toy", prompt="w9", temperature=9)
    until(lambda: len(server.lines) == begin + 2)
    good, bad = map(json.loads, server.lines[begin:])
    assert (good["outcome"], good["status"], good["output_tokens"]) == ("ok", 200, 4)
    assert (bad["outcome"], bad["status"]) == ("refused", 400)
    assert "temperature" in bad["reason"]
    assert "w11" not in "".join(server.lines)


def test_looking_is_not_logged(client, server):
    begin = len(server.lines)
    for path in ("/health", "/ready", "/metrics", "/openapi.json"):
        client.get(path)
    assert server.lines[begin:] == []


@BOTH
def test_usage_in_every_event_if_asked_for(client, path, least):
    """Counts that rise to those of the whole, over all choices."""
    options = {"include_usage": True, "continuous_usage_stats": True}
    _, reply = ask(client, path, **least, stream=True, n=2, stream_options=options)
    counts = [document["usage"]["completion_tokens"] for document in reply.documents]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] == 8
