"""Drafts with their logits: sampled at temperature 1, so that q is their softmax."""

from __future__ import annotations

import pytest

from tests.trtllm.engine.run.artifacts import ask, finish, sampled
from tests.trtllm.engine.run.fakes import Script, draft_token
from trtspec.errors import RunError


@pytest.fixture
def runner(open_engine, bindings):
    bindings.scripts["draft"] = Script(draft_token)
    return open_engine("draft_target", use_draft_logits=True)


def test_sampled_drafts_are_plain_samples_with_their_logits(runner, bindings):
    finish(runner, ask(tokens=20, sampling=sampled(top_k=5, top_p=0.5)))
    requests = bindings.executors["draft"].requests
    assert requests
    for request in requests:
        sampling = request.sampling_config.arguments
        assert sampling.keys() == {"beam_width", "top_p", "temperature", "seed"}
        assert (sampling["temperature"], sampling["top_p"]) == (1.0, 1.0)
        assert request.output_config.return_generation_logits is True


def test_verification_gets_a_row_of_logits_per_draft_token(runner, bindings):
    finish(runner, ask(tokens=20, sampling=sampled()))
    configs = [
        request.external_draft_tokens_config
        for request in bindings.executors["target"].requests
    ]
    verified = [config for config in configs if config]
    assert verified
    for config in verified:
        rows = [index for _, _, index in config.logits]
        assert rows == list(range(len(config.tokens)))


def test_verification_samples_as_the_request_asks(runner, bindings):
    finish(runner, ask(tokens=20, sampling=sampled(top_k=5, top_p=0.5)))
    for request in bindings.executors["target"].requests:
        sampling = request.sampling_config.arguments
        chosen = sampling["temperature"], sampling["top_k"], sampling["top_p"]
        assert chosen == (0.7, 5, 0.5)


def test_greedy_requests_are_drafted_for_greedily(runner, bindings):
    finish(runner, ask(tokens=20))
    for request in bindings.executors["draft"].requests:
        assert request.sampling_config.top_k == 1
        assert request.output_config.return_generation_logits is None
    for request in bindings.executors["target"].requests:
        config = request.external_draft_tokens_config
        assert config is None or config.logits is None


def test_every_draw_has_a_seed_of_its_own_and_is_repeated(open_engine, bindings):
    seeds = []
    for _ in range(2):
        runner = open_engine("draft_target", use_draft_logits=True)
        finish(runner, ask(tokens=20, sampling=sampled(3)))
        engines = bindings.executors["draft"], bindings.executors["target"]
        sent = [request for engine in engines for request in engine.requests]
        seeds.append([request.sampling_config.seed for request in sent])
    first, second = seeds
    assert len(first) == len(set(first)) > 2
    assert first == second
    assert all(0 <= seed < 2**63 for seed in first)


def test_another_seed_draws_otherwise(runner, bindings):
    finish(runner, ask("a", sampling=sampled(3)), ask("b", sampling=sampled(4)))
    seeds = [r.sampling_config.seed for r in bindings.executors["target"].requests]
    assert len(seeds) == len(set(seeds))


def test_a_draft_without_its_logits_is_an_error(runner, bindings):
    draft = bindings.executors["draft"]
    real = draft.await_responses

    def without_logits(timeout):
        responses = real(timeout)
        for response in responses:
            response.result.generation_logits = None
        return responses

    draft.await_responses = without_logits
    with pytest.raises(RunError, match=r"request r, draft engine: .*logits"):
        finish(runner, ask(tokens=20, sampling=sampled()))
