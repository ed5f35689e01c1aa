"""What ``LLM`` generates, and what it reports of it."""

import asyncio

import pytest

from tests.standins.engines import greedy
from tests.standins.llm.samples import (
    PROMPTS,
    VERSIONS,
    activated,
    checkpoint,
    draft_model,
)

NGRAM = {"decoding_type": "NGram", "max_draft_len": 3, "max_matching_ngram_size": 2}


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """Open an LLM of a version; closed at the end of the test."""
    made = []

    def opening(version, config=None, **given):
        standin, module = activated(tmp_path, version, monkeypatch)
        if config is not None:
            given["speculative_config"] = config
        made.append(module.LLM(model=str(checkpoint()), **given))
        return standin, module, made[-1]

    yield opening
    for llm in made:
        llm.shutdown()


def asking(module, tokens=20, **options):
    return module.SamplingParams(**{"max_tokens": tokens, "ignore_eos": True} | options)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", ["none", "model", "ngram", "auto"])
def test_output_is_the_models_own_whatever_drafts(opened, version, kind):
    configs = {"model": draft_model(version), "ngram": NGRAM}
    configs["auto"] = {"decoding_type": "AUTO"}
    standin, module, llm = opened(version, configs.get(kind))
    results = llm.generate(PROMPTS, asking(module))
    for prompt, result in zip(PROMPTS, results, strict=True):
        assert result.outputs[0].token_ids == greedy(tuple(prompt), 20)
        assert result.outputs[0].finish_reason == "length"
    done = standin.decoding()
    assert (done.total("drafted") > 0) == (kind != "none")
    for one in done.requests:
        assert one["iterations"] + one["accepted"] == len(one["tokens"]) == 20


@pytest.mark.parametrize("version", VERSIONS)
def test_iteration_records_say_what_was_done(opened, version):
    config = draft_model(version)
    standin, module, llm = opened(version, config, enable_iter_perf_stats=True)
    results = llm.generate(PROMPTS, asking(module))
    records, done = llm.get_stats(1), standin.decoding()
    assert llm.get_stats(1) == []
    assert len(records) == len(done.iterations)
    told = [r["specDecodingStats"] for r in records]
    if version in ("1.0.0", "1.1.0"):
        assert told == [None] * len(told)
        return
    for record, truth in zip(told, done.iterations, strict=True):
        assert record["numDraftTokens"] == sum(r["drafted"] for r in truth["requests"])
    assert sum(r["numAcceptedTokens"] for r in told) == done.total("accepted") > 0
    assert sum(r["numRequestsWithDraftTokens"] for r in told) == done.drafting_steps
    averages = {r.request_id: r.avg_decoded_tokens_per_iter for r in results}
    for one in done.requests:
        assert averages[one["id"]] == 20 / one["iterations"]


def test_without_the_key_there_are_no_records_and_a_thousand_are_kept(opened):
    _, module, llm = opened("1.2.1", draft_model("1.2.1"))
    llm.generate(PROMPTS, asking(module))
    assert llm.get_stats(1) == []
    assert llm._loop.records.maxlen == 1000


@pytest.mark.parametrize(
    ("version", "filled"), [("1.2.1", False), ("1.3.0rc22", False), ("1.4.0rc4", True)]
)
def test_requests_tell_of_speculation_in_the_newest_only(opened, version, filled):
    standin, module, llm = opened(version, draft_model(version))
    result = llm.generate(PROMPTS[0], asking(module, return_perf_metrics=True))
    told = result.outputs[0].request_perf_metrics.speculative_decoding
    (done,) = standin.decoding().requests
    assert told.total_draft_tokens == (done["drafted"] if filled else 0)
    assert told.total_accepted_draft_tokens == (done["accepted"] if filled else 0)


@pytest.mark.parametrize(
    ("version", "config", "greedily"),
    [
        ("1.0.0", None, False),
        ("1.0.0", NGRAM, True),
        ("1.1.0", "model", True),
        ("1.2.1", "model", True),
        ("1.2.1", "advanced", False),
        ("1.2.1", NGRAM, False),
        ("1.4.0rc4", "model", False),
    ],
)
def test_sampling_is_honoured_where_the_family_does(opened, version, config, greedily):
    chosen = {"model": draft_model(version)}
    chosen["advanced"] = draft_model(version, allow_advanced_sampling=True)
    config = chosen.get(config, config) if isinstance(config, str) else config
    standin, module, llm = opened(version, config)
    llm.generate(PROMPTS, asking(module, temperature=5.0, seed=1))
    done = standin.decoding().requests
    assert {one["greedy"] for one in done} == {greedily}
    same = [one["tokens"] == greedy(tuple(one["prompt"]), 20) for one in done]
    assert all(same) == greedily


def test_a_stream_brings_the_tokens_of_a_step_together(opened):
    standin, module, llm = opened("1.2.1", draft_model("1.2.1"))

    async def stream():
        found = []
        request = llm.generate_async(PROMPTS[0], asking(module), streaming=True)
        async for part in request:
            found.append((part.outputs[0].token_ids_diff, part.outputs[0].text_diff))
        return found

    parts = asyncio.run(stream())
    (done,) = standin.decoding().requests
    sizes = [len(tokens) for tokens, _ in parts]
    assert sizes == [1, *(accepted + 1 for _, accepted in done["steps"])]
    assert max(sizes) > 1
    expected = greedy((3, 9, 4), 20)
    assert [t for tokens, _ in parts for t in tokens] == expected
    assert "".join(text for _, text in parts) == " ".join(f"t{t}" for t in expected)


def test_an_aborted_request_leaves_at_the_next_step(opened):
    standin, module, llm = opened("1.2.1")
    standin.pace(0.005)
    request = llm.generate_async(PROMPTS[0], asking(module, 200), streaming=True)
    next(request)
    request.abort()
    result = request.result(10)
    assert result.outputs[0].finish_reason == "cancelled"
    assert result.aborted()
    (done,) = standin.decoding().requests
    assert len(done["tokens"]) < 200
    assert done["finish_reason"] == "cancelled"


def test_ends_and_stop_words_end(opened):
    expected = greedy((3, 9, 4), 12)
    _, module, llm = opened("1.2.1", draft_model("1.2.1"))
    first = llm.generate(PROMPTS[0], module.SamplingParams(end_id=expected[4]))
    assert first.outputs[0].token_ids == expected[:5]
    assert first.outputs[0].finish_reason == "stop"
    asked = asking(module, stop=f"t{expected[2]}")
    second = llm.generate(PROMPTS[0], asked).outputs[0]
    assert (second.token_ids, second.stop_reason) == (expected[:2], f"t{expected[2]}")


def test_a_users_drafter_is_asked_and_verified(opened):
    class Drafter:
        def prepare_draft_tokens(self, scheduled_requests, resource_manager=None):
            for request in scheduled_requests.generation_requests:
                request.py_draft_tokens = [request.get_tokens(0)[-1]] * 2

    standin, module, _ = opened("1.2.1")
    config = module.UserProvidedDecodingConfig(max_draft_len=2, drafter=Drafter())
    with module.LLM(model=str(checkpoint()), speculative_config=config) as other:
        result = other.generate(PROMPTS[1], asking(module))
    assert result.outputs[0].token_ids == greedy((7, 7, 7, 7), 20)
    done = standin.decoding()
    assert done.total("accepted") > 0


def test_the_newest_refuse_controls_that_older_ones_drop(opened):
    for version in ("1.2.1", "1.4.0rc4"):
        _, module, llm = opened(version, draft_model(version))
        for name, value in {"min_tokens": 3, "repetition_penalty": 1.5}.items():
            params = asking(module, **{name: value})
            if version == "1.2.1":
                assert llm.generate(PROMPTS[0], params).finished
            else:
                with pytest.raises(ValueError, match=f"{name} is not supported"):
                    llm.generate(PROMPTS[0], params)


def test_what_cannot_be_opened_is_refused(opened, tmp_path):
    with pytest.raises(FileNotFoundError, match="draft model"):
        opened("1.2.1", {**draft_model("1.2.1"), "speculative_model_dir": "nowhere"})
    with pytest.raises(RuntimeError, match="Only 1 GPUs are available, but 2"):
        opened("1.2.1", tensor_parallel_size=2)
    _, module, llm = opened("1.2.1")
    with pytest.raises(TypeError, match="unexpected keyword argument 'tokens'"):
        module.SamplingParams(tokens=3)
    with pytest.raises(ValueError, match="max_seq_len"):
        llm.generate([3] * 300)


@pytest.mark.parametrize(
    ("version", "gate"),
    [
        ("1.2.1", {"acceptance_window": 1, "acceptance_length_threshold": 3.0}),
        (
            "1.4.0rc4",
            {"acceptance_rate_window_size": 2, "acceptance_rate_threshold": 1.0},
        ),
    ],
)
def test_a_gate_that_closes_ends_drafting(opened, version, gate):
    standin, module, llm = opened(version, {**NGRAM, **gate})
    for _ in range(2):
        result = llm.generate(PROMPTS[1], asking(module, 40))
        assert result.outputs[0].token_ids == greedy((7, 7, 7, 7), 40)
    first, second = standin.decoding().requests
    assert first["drafted"] > 0
    assert second["drafted"] == 0
