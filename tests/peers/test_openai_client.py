"""The official ``openai`` package against a server of a toy, unchanged.

It is not among the project's dependencies: ``pip install openai``.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.reference.artifacts import write_model
from tests.serve.faults.rig import toy_server
from tests.serve.serving import MODEL, until
from trtspec.serve.limits import ServeLimits

openai = pytest.importorskip("openai")
KEY = "sk-of-the-test"
MESSAGES = [{"role": "user", "content": "w3 w4 w3 w4 w3"}]
CHAT = {"model": MODEL, "messages": MESSAGES, "temperature": 0, "max_tokens": 12}
TEXT = {"model": MODEL, "prompt": "w3 w4 w3 w4 w3", "temperature": 0, "max_tokens": 12}
LONG = {"extra_body": {"ignore_eos": True}}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("openai") / "target")


@pytest.fixture(scope="module")
def server(model):
    with toy_server(model, keys=[KEY]) as (server, _):
        yield server


@pytest.fixture(scope="module")
def client(server):
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key=KEY, max_retries=0) as made:
        yield made


def chat(client, **more):
    return client.chat.completions.create(**(CHAT | LONG | more))


def complete(client, **more):
    return client.completions.create(**(TEXT | LONG | more))


def test_models(client):
    listed = client.models.list()
    assert [model.id for model in listed] == [MODEL]
    assert client.models.retrieve(MODEL).owned_by == "trtspec"


def test_a_chat_streamed_is_the_chat(client):
    whole = chat(client)
    choice = whole.choices[0]
    assert whole.object == "chat.completion"
    assert choice.message.role == "assistant"
    assert choice.finish_reason == "length"
    assert whole.usage.completion_tokens == 12
    chunks = list(chat(client, stream=True))
    assert chunks[0].choices[0].delta.role == "assistant"
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == choice.message.content
    assert chunks[-1].choices[0].finish_reason == "length"
    assert all(chunk.usage is None for chunk in chunks)


def test_a_completion_streamed_is_the_completion(client):
    whole = complete(client)
    chunks = list(complete(client, stream=True))
    assert "".join(c.choices[0].text for c in chunks) == whole.choices[0].text
    assert whole.usage.total_tokens == whole.usage.prompt_tokens + 12


def test_the_stream_helper_gathers_a_chat(client):
    # of an answer that was cut by its length it raises an error of its own
    stop = chat(client).choices[0].message.content.split()[5]
    asked = CHAT | LONG | {"stop": stop}
    with client.chat.completions.stream(**asked) as stream:
        kinds = {event.type for event in stream}
        gathered = stream.get_final_completion()
    assert {"chunk", "content.delta", "content.done"} <= kinds
    whole = client.chat.completions.create(**asked)
    assert gathered.choices[0].message.content == whole.choices[0].message.content


@pytest.mark.parametrize("ask", [chat, complete])
def test_usage_comes_in_the_last_chunk(client, ask):
    chunks = list(ask(client, stream=True, stream_options={"include_usage": True}))
    assert chunks[-1].choices == []
    assert chunks[-1].usage.completion_tokens == 12
    assert all(chunk.usage is None for chunk in chunks[:-1])


@pytest.mark.parametrize("ask", [chat, complete])
def test_usage_comes_in_every_chunk_where_it_is_asked_for(client, ask):
    """As guidellm asks for it."""
    options = {"include_usage": True, "continuous_usage_stats": True}
    chunks = list(ask(client, stream=True, stream_options=options))
    counts = [chunk.usage.completion_tokens for chunk in chunks]
    assert counts == sorted(counts)
    assert counts[0] < counts[-2] == counts[-1] == 12
    assert len({chunk.usage.prompt_tokens for chunk in chunks}) == 1


@pytest.mark.parametrize("ask", [chat, complete])
def test_several_answers_are_told_apart(client, ask):
    sampled = {"n": 3, "temperature": 1.0, "seed": 5}
    whole = ask(client, **sampled)
    assert [choice.index for choice in whole.choices] == [0, 1, 2]
    assert whole.usage.completion_tokens == 36
    chunks = list(ask(client, stream=True, **sampled))
    for choice in whole.choices:
        mine = [c.choices[0] for c in chunks if c.choices[0].index == choice.index]
        if ask is chat:
            assert "".join(c.delta.content for c in mine) == choice.message.content
        else:
            assert "".join(c.text for c in mine) == choice.text


def test_a_seed_repeats_an_answer(client):
    one, same, other = (
        complete(client, temperature=1.0, seed=seed).choices[0].text
        for seed in (3, 3, 4)
    )
    assert one == same != other


def test_a_stop_text_ends_before_itself(client):
    words = complete(client).choices[0].text.split()
    choice = complete(client, stop=[words[5], "nothing"]).choices[0]
    assert choice.finish_reason == "stop"
    assert words[5] not in choice.text.split()
    assert choice.text.split() == words[: words.index(words[5])]


def test_logprobs_of_a_chat(client):
    choice = chat(client, logprobs=True, top_logprobs=3).choices[0]
    assert len(choice.logprobs.content) == 12
    for token in choice.logprobs.content:
        assert len(token.top_logprobs) == 3
        assert token.logprob == pytest.approx(token.top_logprobs[0].logprob)
        assert token.logprob <= 0


def test_logprobs_of_a_completion(client):
    logprobs = complete(client, logprobs=2).choices[0].logprobs
    assert len(logprobs.tokens) == len(logprobs.token_logprobs) == 12
    assert all(len(top) == 2 for top in logprobs.top_logprobs)
    assert logprobs.text_offset[0] == 0


def test_speculation_is_asked_for_and_told(client):
    off = {"ignore_eos": True, "speculation": {"enabled": False}}
    on = {"ignore_eos": True, "speculation": {"draft_length": 2}}
    plain, drafted = (
        complete(client, extra_body=body).choices[0] for body in (off, on)
    )
    assert plain.text == drafted.text
    assert plain.speculation["enabled"] is False
    assert plain.speculation["drafted"] == 0
    assert drafted.speculation["enabled"] is True
    assert drafted.speculation["drafted"] <= 2 * drafted.speculation["steps"]
    last = list(complete(client, stream=True))[-1].choices[0]
    assert last.speculation["method"] == "ngram"


def test_the_raw_response_has_a_request_id(client):
    raw = client.chat.completions.with_raw_response.create(**CHAT)
    answer = raw.parse()
    assert raw.headers["x-request-id"] == answer.id == answer._request_id
    streamed = client.completions.with_streaming_response.create(**TEXT, stream=True)
    with streamed as response:
        lines = [line for line in response.iter_lines() if line]
    assert lines[-1] == "data: [DONE]"
    assert (
        json.loads(lines[0].removeprefix("data: "))["id"]
        == response.headers["x-request-id"]
    )


def test_the_asynchronous_client(server):
    async def both():
        options = {"base_url": f"{server.url}/v1", "api_key": KEY}
        async with openai.AsyncOpenAI(**options) as client:
            create = client.chat.completions.create
            several = await asyncio.gather(*(create(**CHAT, **LONG) for _ in range(6)))
            stream = await create(**CHAT, **LONG, stream=True)
            parts = [chunk.choices[0].delta.content async for chunk in stream]
        return {a.choices[0].message.content for a in several}, "".join(parts)

    whole, streamed = asyncio.run(both())
    assert whole == {streamed}


def test_a_closed_stream_cancels_the_request(client, server):
    stream = complete(client, stream=True, max_tokens=200)
    next(iter(stream))
    stream.close()
    until(lambda: not server.service.driver.streams)
    assert not server.service.admission.inside


# errors become its own


@pytest.mark.parametrize(
    ("more", "param"),
    [
        ({"temperature": 9}, "temperature"),
        ({"max_tokens": 10_000}, None),
        ({"messages": []}, "messages"),
        ({"presence_penalty": 1.0}, "presence_penalty"),
        ({"tools": [{"type": "function", "function": {"name": "f"}}]}, "tools"),
        ({"response_format": {"type": "json_object"}}, "response_format.type"),
        ({"extra_body": {"unknown": 1}}, "unknown"),
    ],
)
def test_a_bad_request(client, more, param):
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(**(CHAT | more))
    assert caught.value.status_code == 400
    assert caught.value.param == param
    assert caught.value.type == "invalid_request_error"
    assert caught.value.request_id.startswith("chatcmpl-")


def test_a_model_that_is_not_there(client):
    with pytest.raises(openai.NotFoundError) as caught:
        client.completions.create(**(TEXT | {"model": "gpt-9"}))
    assert caught.value.code == "model_not_found"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt-9")
    with pytest.raises(openai.NotFoundError):
        client.embeddings.create(model=MODEL, input="w3")


def test_a_wrong_key(server):
    other = openai.OpenAI(base_url=f"{server.url}/v1", api_key="sk-wrong")
    with pytest.raises(openai.AuthenticationError) as caught:
        complete(other)
    assert caught.value.code == "invalid_api_key"


def test_a_full_queue_is_waited_for(model):
    """429 with Retry-After: the client comes again, and is served."""
    limits = ServeLimits(waiting=0).model_dump()
    with toy_server(model, max_batch_size=1, limits=limits) as (server, runner):
        options = {"base_url": f"{server.url}/v1", "api_key": "none"}
        impatient = openai.OpenAI(**options, max_retries=0)
        patient = openai.OpenAI(**options, max_retries=8)
        runner.pause = 0.05
        with complete(impatient, stream=True, max_tokens=60) as stream:
            next(iter(stream))
            with pytest.raises(openai.RateLimitError) as caught:
                complete(impatient)
            assert caught.value.code == "queue_full"
            assert int(caught.value.response.headers["retry-after"]) >= 1
            assert complete(patient).usage.completion_tokens == 12
        refused = [line for line in server.lines if '"status": 429' in line]
        assert len(refused) >= 2


def test_a_server_that_ends_is_told(model):
    with toy_server(model) as (server, _):
        server.service.phase.enter("draining", "the server ends")
        client = openai.OpenAI(
            base_url=f"{server.url}/v1", api_key="none", max_retries=0
        )
        with pytest.raises(openai.InternalServerError) as caught:
            complete(client)
    assert caught.value.status_code == 503
    assert caught.value.code == "draining"


def test_an_error_inside_a_stream_is_raised(model):
    """After the first chunk there is no other status; the client raises it too."""
    with toy_server(model) as (server, runner):
        usual, steps = runner._runner.engine._advance, []

        def failing():
            steps.append(1)
            if len(steps) == 4:
                raise MemoryError
            return usual()

        runner._runner.engine._advance = failing
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="none")
        with pytest.raises(openai.APIError, match="out of memory"):
            list(complete(client, stream=True, max_tokens=60))
