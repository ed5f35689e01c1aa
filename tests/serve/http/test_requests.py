"""From bodies to engine requests: sizes, seeds, sampling, own speculation."""

from __future__ import annotations

import pytest

from tests.reference.artifacts import recipe
from tests.serve.openai.bodies import read
from tests.serve.serving import runner_of, service_for
from trtspec.run import SamplingParams
from trtspec.serve.http.requests import (
    Wanted,
    engine_requests,
    require_choices,
    require_model,
    sampling,
)
from trtspec.serve.limits import ServeLimits
from trtspec.serve.openai.completion import CompletionRequest
from trtspec.serve.openai.errors import RefusalError

LIMITS = ServeLimits(choices=6)
INPUT, TOTAL = 20, 60


@pytest.fixture(scope="module")
def services(word_models):
    def make(method):
        asked = recipe(method)
        runner = runner_of(asked, word_models / "target")
        return service_for(runner, asked, limits=LIMITS)

    return {
        name: make(method)
        for name, method in {
            "ngram": {"method": "ngram", "draft_length": 3},
            "none": {"method": "none"},
            "map": {"method": "ngram", "draft_length": {1: 4, 2: 2}},
        }.items()
    }


@pytest.fixture(scope="module")
def service(services):
    return services["ngram"]


def body(**fields):
    return read(CompletionRequest, **fields)


def made(service, prompts=((3, 4),), tokens=5, logprobs=None, **fields):
    wanted = Wanted(prompts, tokens, logprobs)
    return engine_requests(service, body(**fields), wanted, "cmpl-x")


def refused(service, **fields) -> RefusalError:
    with pytest.raises(RefusalError) as caught:
        made(service, **fields)
    return caught.value


def test_choices_of_all_prompts_have_seeds_in_a_row(service):
    found = made(service, ((3,), (4, 5)), n=3, seed=7)
    assert [r.id for r in found] == [f"cmpl-x-{i}" for i in range(6)]
    assert [r.prompt for r in found] == [(3,)] * 3 + [(4, 5)] * 3
    assert [r.sampling.seed for r in found] == list(range(7, 13))


def test_without_a_seed_it_is_another_one_each_time(service):
    seeds = {made(service)[0].sampling.seed for _ in range(20)}
    assert len(seeds) == 20


def test_what_is_not_said_is_as_in_openais_api():
    assert sampling(body(), 3) == SamplingParams(1.0, 0, 1.0, 3)


def test_sampling_is_read():
    asked = body(temperature=0.5, top_k=4, top_p=0.9)
    assert sampling(asked, 1) == SamplingParams(0.5, 4, 0.9, 1)
    assert sampling(body(temperature=0), 1).greedy
    assert sampling(body(top_k=-1), 1).top_k == 0


def test_other_controls_reach_the_engine(service):
    [one] = made(service, logprobs=3, stop=["a", "b"], ignore_eos=True, tokens=9)
    assert (one.stop, one.ignore_eos, one.logprobs) == (("a", "b"), True, 3)
    assert one.max_new_tokens == 9
    assert one.speculate
    assert one.speculation is None


def test_without_a_length_there_is_all_the_room(service):
    [one] = made(service, tokens=None)
    assert one.max_new_tokens == TOTAL - 2


def test_sizes_up_to_the_limits(service):
    [one] = made(service, [tuple(range(2, INPUT + 2))], TOTAL - INPUT)
    assert one.max_new_tokens == TOTAL - INPUT


@pytest.mark.parametrize(
    ("prompt", "tokens", "words"),
    [
        ((), 5, "no tokens"),
        ((3,) * (INPUT + 1), 5, f"has {INPUT + 1} tokens; allowed are up to {INPUT}"),
        ((3, 4), TOTAL - 1, f"ask for up to {TOTAL - 2}"),
        ((3, 48), 5, "there is no token 48; ids go up to 47"),
    ],
)
def test_what_does_not_fit_is_refused_with_what_would(service, prompt, tokens, words):
    said = refused(service, prompts=[(3,), prompt], tokens=tokens)
    assert said.status == 400
    assert words in said.message


def test_too_long_has_the_code_that_clients_look_for(service):
    said = refused(service, tokens=TOTAL)
    assert said.code == "context_length_exceeded"


def test_too_many_choices(service):
    assert require_choices(service, body(n=3), 2) == 3
    for n, prompts, param in ((7, 1, "n"), (4, 2, "n"), (1, 7, "prompt")):
        with pytest.raises(RefusalError) as caught:
            require_choices(service, body(n=n), prompts)
        assert caught.value.param == param
        assert f"allowed are {LIMITS.choices}" in caught.value.message


def test_choices_that_would_never_fit_in_are_refused_for_good(word_models):
    """Come again later would be no help."""
    asked = recipe()
    runner = runner_of(asked, word_models / "target")
    narrow = service_for(runner, asked, limits=ServeLimits(waiting=1))
    assert require_choices(narrow, body(n=3), 1) == 3
    with pytest.raises(RefusalError) as caught:
        require_choices(narrow, body(n=4), 1)
    assert caught.value.status == 400
    assert "allowed are 3" in caught.value.message


def test_another_model_is_not_found(service):
    require_model(service, "toy")
    for name in ("other", "", "Toy", "x" * 500):
        with pytest.raises(RefusalError) as caught:
            require_model(service, name)
        said = caught.value
        assert (said.status, said.code) == (404, "model_not_found")
        assert "served is 'toy'" in said.message
        assert len(said.message) < 200


def test_drafting_may_be_turned_off(service, services):
    [one] = made(service, speculation={"enabled": False, "draft_length": 2})
    assert not one.speculate
    assert one.speculation is None
    [one] = made(services["none"], speculation={"enabled": False})
    assert not one.speculate


def test_a_draft_length_of_ones_own(service, services):
    [one] = made(service, speculation={"draft_length": 2})
    assert one.speculate
    assert one.speculation.longest_draft == 2
    [one] = made(services["map"], speculation={"draft_length": 4})
    assert one.speculation.draft_length == 4


@pytest.mark.parametrize(
    ("name", "length", "words"),
    [
        ("ngram", 4, "longer than the artifact was built for: 3"),
        ("map", 5, "longer than the artifact was built for: 4"),
        ("none", 2, "draft length of its own"),
    ],
)
def test_a_draft_length_that_cannot_be(services, name, length, words):
    said = refused(services[name], speculation={"draft_length": length})
    assert said.status == 400
    assert said.param == "speculation.draft_length"
    assert words in said.message
