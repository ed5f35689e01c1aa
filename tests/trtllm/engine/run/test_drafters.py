"""Drafts of a draft engine: how they are drawn, and what of them is verified.

With logits they are sampled at temperature 1, so that q is the softmax of these, and
never cut, so that their length does not depend on what was drawn.
"""

from __future__ import annotations

import pytest

from tests.trtllm.engine.run.artifacts import END, ask, finish, greedy_tokens, sampled
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


@pytest.mark.parametrize(
    ("without", "message"),
    [
        ({"generation_logits": None}, "came without its generation logits"),
        ({"generation_logits": [[1, 2]]}, "4 tokens and 2 rows of logits, and 4 were"),
        ({"output_token_ids": [[5, 6, 7]]}, "the draft has 3 tokens"),
        ({"output_token_ids": [[5, 6, 7, 99]]}, "the token id 99, .* has 48"),
    ],
)
def test_a_draft_that_cannot_be_verified_as_drawn_is_an_error(
    runner, bindings, without, message
):
    draft = bindings.executors["draft"]
    real = draft.await_responses

    def altered(timeout):
        responses = real(timeout)
        for response in responses:
            vars(response.result).update(without)
        return responses

    draft.await_responses = altered
    with pytest.raises(RunError, match=f"request r, draft engine: .*{message}"):
        finish(runner, ask(tokens=20, sampling=sampled()))
    assert not runner.busy


def test_an_end_token_is_one_like_any_other_in_a_draft_with_logits(runner, bindings):
    """Whether one was drawn must not decide how much is verified."""
    bindings.executors["draft"].script.token = lambda text: END
    finish(runner, ask(tokens=9, sampling=sampled(), ignore_eos=False))
    for request in bindings.executors["draft"].requests:
        assert request.end_id is request.stop_words is None
    configs = [
        request.external_draft_tokens_config
        for request in bindings.executors["target"].requests
    ]
    assert configs[1].tokens == [END] * 4
    assert len(configs[1].logits) == 4
    assert bindings.executors["target"].requests[1].end_id == END


def test_a_greedy_draft_ends_with_its_end_token(runner, bindings):
    draft = bindings.executors["draft"]
    draft.script.token = lambda text: END if len(text) == 6 else draft_token(text)
    finish(runner, ask(tokens=9, ignore_eos=False))
    assert draft.requests[0].end_id == END
    config = bindings.executors["target"].requests[1].external_draft_tokens_config
    assert config.tokens[1:] == [draft_token((3, 9, 4, *greedy_tokens(count=2))), END]


def test_top_k_1_is_drafted_for_greedily(runner, bindings):
    finish(runner, ask(tokens=9, sampling=sampled(top_k=1)))
    for engine in bindings.executors.values():
        for request in engine.requests:
            assert request.sampling_config.arguments.keys() == {
                "beam_width",
                "top_k",
                "temperature",
            }


def test_ids_that_the_draft_model_does_not_know_are_replaced(open_engine, bindings):
    runner = open_engine("draft_target", draft={"vocab_size": 20})
    finish(runner, ask(prompt=(3, 40, 9), tokens=8))
    for request in bindings.executors["draft"].requests:
        assert max(request.input_token_ids) < 20
    assert bindings.executors["draft"].requests[0].input_token_ids[:3] == [3, 0, 9]


def test_a_draft_ends_before_an_id_that_the_target_does_not_know(open_engine, bindings):
    bindings.scripts["draft"] = Script(lambda tokens: 99)
    runner = open_engine("draft_target", draft={"vocab_size": 128})
    done, _ = finish(runner, ask(tokens=9))
    assert done["r"].drafted == 0
    assert done["r"].tokens == greedy_tokens(count=9)
