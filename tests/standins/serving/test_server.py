"""What a running server answers."""

import asyncio
import time

import httpx
import pytest

from tests.standins.engines import greedy
from tests.standins.llm.samples import draft_model
from tests.standins.serving.processes import body, serve

STATISTICS = {"enable_iter_perf_stats": True, "return_perf_metrics": True}


@pytest.fixture(scope="module")
def newest(tmp_path_factory):
    document = {"speculative_config": draft_model("1.4.0rc4"), **STATISTICS}
    served = serve(tmp_path_factory.mktemp("newest"), "1.4.0rc4", document)
    yield served
    assert served.stop() == 0


def test_it_says_what_it_is(newest):
    assert newest.client.get("/health").status_code == 200
    assert newest.client.get("/version").json() == {"version": "1.4.0rc4"}
    (model,) = newest.client.get("/v1/models").json()["data"]
    assert model["id"] == "hf"
    assert newest.client.get("/nowhere").status_code == 404
    assert newest.client.get("/v1/completions").status_code == 405
    assert newest.client.get("/perf_metrics").status_code == 404
    assert newest.client.get("/health_generate").status_code == 200


def test_completions_are_the_models_own(newest):
    prompts = [[3, 9, 4], [7, 7, 7, 7]]
    answer = newest.complete(prompts, detokenize=False).json()
    for prompt, choice in zip(prompts, answer["choices"], strict=True):
        assert choice["token_ids"] == greedy(tuple(prompt), 20)
        assert choice["finish_reason"] == "length"
        assert choice["avg_decoded_tokens_per_iter"] > 1
    assert answer["usage"]["completion_tokens"] == 40
    text = newest.complete("t3 t9 t4").json()["choices"][0]["text"]
    assert text == " ".join(f"t{token}" for token in greedy((3, 9, 4), 20))


def test_streams_bring_several_tokens_per_chunk_and_the_usage_last(newest):
    options = {"include_usage": True}
    parts = newest.stream([3, 9, 4], detokenize=False, stream_options=options)
    *chunks, last = parts
    tokens = [part["choices"][0]["token_ids"] for part in chunks]
    (done,) = newest.standin.decoding().requests[-1:]
    assert [t for some in tokens for t in some] == greedy((3, 9, 4), 20)
    assert [len(some) for some in tokens] == [1, *(a + 1 for _, a in done["steps"])]
    final = chunks[-1]["choices"][0]
    assert final["avg_decoded_tokens_per_iter"] == 20 / done["iterations"]
    assert last["choices"] == []
    assert last["usage"]["completion_tokens"] == 20


def test_chat_renders_the_template_and_streams(newest):
    asked = {**body("", 6), "messages": [{"role": "user", "content": "t3 t9 t4"}]}
    del asked["prompt"]
    answer = newest.client.post("/v1/chat/completions", json=asked).json()
    expected = " ".join(f"t{token}" for token in greedy((3, 9, 4), 6))
    assert answer["choices"][0]["message"]["content"] == expected
    asked["stream"] = True
    with newest.client.stream("POST", "/v1/chat/completions", json=asked) as parts:
        first, *_, last = [line for line in parts.iter_lines() if line]
    assert '"role": "assistant"' in first
    assert last == "data: [DONE]"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"foo": 1}, "foo: Extra inputs are not permitted"),
        ({"stream_options": {"include_usage": True}}, "only be defined with stream"),
        ({"temperature": "hot"}, "temperature must be float"),
        ({"min_tokens": 3}, "min_tokens is not supported"),
        ({"prompt": [0] * 300}, "max_seq_len"),
        ({"prompt": 3}, "prompt"),
        ({"response_format": {"type": "json_object"}}, "guided decoding"),
    ],
)
def test_what_is_wrong_is_answered_with_400(newest, wrong, message):
    answer = newest.client.post("/v1/completions", json={**body([3]), **wrong})
    assert answer.status_code == 400
    assert message in answer.text


def test_a_request_without_temperature_is_sampled(newest):
    newest.complete([3, 9, 4], temperature=None)
    assert newest.standin.decoding().requests[-1]["greedy"] is False


def test_metrics_drain_and_agree_with_what_was_done(newest):
    newest.client.get("/metrics")
    before = newest.standin.decoding()
    newest.complete([[3, 9, 4], [7, 7, 7, 7]])
    records = newest.client.get("/metrics").json()
    assert newest.client.get("/metrics").json() == []
    after = newest.standin.decoding()
    told = [record["specDecodingStats"] for record in records]
    for name, key in {
        "numDraftTokens": "drafted",
        "numAcceptedTokens": "accepted",
    }.items():
        expected = after.total(key) - before.total(key)
        assert sum(record[name] for record in told) == expected > 0
    exposed = newest.client.get("/prometheus/metrics").text
    counter = next(
        line
        for line in exposed.splitlines()
        if line.startswith("trtllm_spec_decode_num_draft_tokens_total")
    )
    assert float(counter.rsplit(" ", 1)[1]) == after.total("drafted")


def test_requests_run_together_and_a_client_that_leaves_frees_its_slot(newest):
    newest.standin.pace(0.01)

    async def leave():
        asked = body([3, 9, 4], 200, stream=True)
        async with httpx.AsyncClient(base_url=newest.client.base_url) as client:
            together = [
                client.post("/v1/completions", json=body([7, 7, n], 10), timeout=30)
                for n in range(3)
            ]
            running = asyncio.gather(*together)
            async with client.stream("POST", "/v1/completions", json=asked) as answer:
                async for _ in answer.aiter_lines():
                    break
            return await running

    answers = asyncio.run(leave())
    assert [answer.status_code for answer in answers] == [200] * 3
    until = time.monotonic() + 10
    while not newest.standin.events("disconnect") and time.monotonic() < until:
        time.sleep(0.01)
    newest.standin.pace(0)
    (gone,) = newest.standin.events("disconnect")
    newest.complete([3], 1)
    ended = {r["id"]: r for r in newest.standin.decoding().requests}
    assert ended[gone["id"]]["finish_reason"] == "cancelled"
    assert len(ended[gone["id"]]["tokens"]) < 200
    assert max(it["batch"] for it in newest.standin.decoding().iterations) > 1
