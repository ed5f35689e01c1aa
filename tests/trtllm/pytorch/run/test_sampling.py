"""A request says the same in process and over HTTP, each in its own words."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.standins.llm.sampling import DEFAULTS
from tests.trtllm.pytorch.run.fakes import ask, sampled
from trtspec.run import SamplingParams
from trtspec.trtllm.facts.serving import request_fields
from trtspec.trtllm.pytorch.run.sampling import (
    completion_body,
    is_greedy,
    sampling_arguments,
)


def test_greedy_leaves_everything_unset_in_process():
    said = sampling_arguments(ask(tokens=7, ignore_eos=False), {9, 2})
    assert said == {
        "max_tokens": 7,
        "detokenize": False,
        "ignore_eos": False,
        "end_id": 2,
        "stop_token_ids": [9],
    }


def test_greedy_is_said_over_http_where_unset_would_sample():
    body = completion_body(ask(tokens=7, ignore_eos=False), "target", {9, 2})
    assert body == {
        "model": "target",
        "prompt": [3, 9, 4],
        "max_tokens": 7,
        "stream": True,
        "stream_options": {"include_usage": True},
        "detokenize": False,
        "ignore_eos": False,
        "temperature": 0.0,
        "top_k": 1,
        "stop_token_ids": [2, 9],
    }


@pytest.mark.parametrize("say", [sampling_arguments, completion_body])
def test_sampling_says_temperature_mass_and_seed(say):
    request = ask(sampling=sampled(top_p=0.9, top_k=40, seed=5))
    said = say(request, *(["m"] if say is completion_body else []), ())
    assert (said["temperature"], said["top_p"], said["top_k"]) == (0.7, 0.9, 40)
    assert said["seed"] == 5
    all_tokens = say(
        ask(sampling=sampled()), *(["m"] if say is completion_body else []), ()
    )
    assert "top_k" not in all_tokens
    assert all_tokens["top_p"] == 1.0


def test_ignored_end_tokens_end_nothing():
    assert "stop_token_ids" not in sampling_arguments(ask(), {9, 2})
    assert "stop_token_ids" not in completion_body(ask(), "m", {9, 2})


def test_without_end_tokens_none_is_named():
    assert "end_id" not in sampling_arguments(ask(ignore_eos=False), ())


def test_controls_are_added_and_own_stop_tokens_joined():
    controls = {"min_p": 0.1, "stop_token_ids": [30]}
    request = ask(ignore_eos=False, controls=controls)
    said = sampling_arguments(request, {2, 9})
    assert (said["min_p"], said["stop_token_ids"]) == (0.1, [30, 9])
    body = completion_body(request, "m", {2, 9})
    assert (body["min_p"], body["stop_token_ids"]) == (0.1, [30, 2, 9])


@pytest.mark.parametrize(
    ("guide", "told"),
    [
        ({"json_object": True}, {"type": "json_object"}),
        ({"json": {"type": "object"}}, {"type": "json", "schema": {"type": "object"}}),
        ({"regex": "a+"}, {"type": "regex", "regex": "a+"}),
        ({"grammar": 'root ::= "a"'}, {"type": "ebnf", "ebnf": 'root ::= "a"'}),
    ],
)
def test_a_guide_is_a_response_format_over_http(guide, told):
    body = completion_body(ask(controls={"guided_decoding": guide}), "m", ())
    assert body["response_format"] == told
    assert "guided_decoding" not in body


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0", "1.2.1", "1.4.0rc4"])
@pytest.mark.parametrize("sampling", [SamplingParams(), sampled(top_k=4)])
def test_every_release_knows_what_is_sent(version, sampling):
    request = ask(sampling=sampling, ignore_eos=False)
    known = request_fields("/v1/completions", Version(version))
    assert set(completion_body(request, "m", {2})) <= set(known)
    assert set(sampling_arguments(request, {2, 9})) <= set(DEFAULTS)


def test_one_token_to_choose_from_is_greedy():
    assert is_greedy(SamplingParams(temperature=0.5, top_k=1))
    assert is_greedy(SamplingParams())
    assert not is_greedy(SamplingParams(temperature=0.5, top_k=2))
