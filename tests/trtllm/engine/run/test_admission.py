"""Requests that an artifact cannot run, or only lossily, are refused beforehand."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.trtllm.engine.run.artifacts import MODES, ask, recipe, sampled
from trtspec.errors import UsageError
from trtspec.trtllm.engine.run.admission import (
    lossy_or_refuse,
    require_off_arm,
    require_own_parameters,
    require_sampling,
)

VERSION = Version("1.2.1")
TYPICAL = {"acceptance": "typical", "posterior_threshold": 0.1}


def method(name, **options):
    return recipe(name, **options).speculation


@pytest.mark.parametrize("name", ["medusa", "eagle", "redrafter"])
def test_an_engine_that_always_drafts_has_no_off_arm(name):
    require_off_arm(ask(), method(name))
    with pytest.raises(UsageError, match=r"method: none") as caught:
        require_off_arm(ask(speculate=False), method(name))
    assert name in str(caught.value)


@pytest.mark.parametrize("name", ["none", "ngram", "draft_target", "lookahead"])
def test_the_others_have_one(name):
    require_off_arm(ask(speculate=False), method(name))


SAMPLED_IS_LOSSY = [
    "ngram",
    "draft_target",
    "medusa",
    "eagle",
    "redrafter",
    "lookahead",
]


@pytest.mark.parametrize("name", SAMPLED_IS_LOSSY)
def test_lossy_sampling_is_refused_with_the_lossless_ways(name):
    with pytest.raises(UsageError, match=r"temperature 0.7 .* lossy") as caught:
        lossy_or_refuse(ask(sampling=sampled()), method(name), VERSION)
    text = str(caught.value)
    assert "request r" in text
    assert "temperature 0, " in text
    assert "allow_lossy: true" in text
    assert ("use_draft_logits: true" in text) == (name == "draft_target")


@pytest.mark.parametrize("name", SAMPLED_IS_LOSSY)
def test_where_the_recipe_allows_it_the_reason_is_given(name):
    allowed = method(name, allow_lossy=True)
    assert lossy_or_refuse(ask(sampling=sampled()), allowed, VERSION)
    assert lossy_or_refuse(ask(), allowed, VERSION) == ""


def test_draft_logits_and_plain_decoding_are_lossless():
    request = ask(sampling=sampled())
    by_logits = method("draft_target", use_draft_logits=True)
    assert lossy_or_refuse(request, by_logits, VERSION) == ""
    assert lossy_or_refuse(request, method("none"), VERSION) == ""


def test_typical_acceptance_is_lossy_at_every_temperature():
    typical = method("eagle", **TYPICAL)
    for sampling in (sampled(), sampled(temperature=0.0)):
        reason = lossy_or_refuse(ask(sampling=sampling), typical, VERSION)
        assert "typical" in reason


def test_a_method_lossy_by_itself_is_refused_even_greedily():
    with pytest.raises(UsageError) as caught:
        lossy_or_refuse(ask(), method("redrafter", greedy_search=False), VERSION)
    assert "allowed: method: none" in str(caught.value)


@pytest.mark.parametrize("name", ["ngram", "draft_target"])
def test_the_off_arm_samples_losslessly(name):
    request = ask(sampling=sampled(), speculate=False)
    assert lossy_or_refuse(request, method(name), VERSION) == ""


def test_a_lookahead_engine_is_greedy_even_when_it_drafts_nothing():
    request = ask(sampling=sampled(), speculate=False)
    with pytest.raises(UsageError, match="greedily"):
        lossy_or_refuse(request, method("lookahead"), VERSION)


@pytest.mark.parametrize("name", MODES)
def test_the_recipes_own_parameters_are_always_taken(name):
    require_own_parameters(ask(speculation=method(name)), method(name))


@pytest.mark.parametrize(
    ("name", "own", "taken"),
    [
        ("ngram", {"draft_length": 2, "max_matching_ngram": 1}, True),
        ("draft_target", {"draft_length": 2}, True),
        ("draft_target", {"use_draft_logits": True}, False),
        ("draft_target", {"model": "./other"}, False),
        ("ngram", {"allow_lossy": True}, False),
        ("lookahead", {"window_size": 2, "verification_set_size": 0}, True),
        ("lookahead", {"window_size": 4, "verification_set_size": 2}, False),
        ("medusa", {"tree": [[0]]}, False),
        ("eagle", TYPICAL, False),
        ("redrafter", {"num_beams": 1}, False),
    ],
)
def test_only_what_can_change_per_request_may(name, own, taken):
    request = ask(speculation=method(name, **own))
    if taken:
        require_own_parameters(request, method(name))
        return
    with pytest.raises(UsageError) as caught:
        require_own_parameters(request, method(name))
    assert next(iter(own)) in str(caught.value)
    assert "recipe" in str(caught.value)


@pytest.mark.parametrize("name", ["none", *SAMPLED_IS_LOSSY])
def test_top_k_1_leaves_no_distribution_to_change(name):
    request = ask(sampling=sampled(top_k=1))
    assert lossy_or_refuse(request, method(name), VERSION) == ""


def test_a_top_k_that_the_runtime_would_lower_is_refused():
    for top_k in (0, 1, 1024):
        require_sampling(ask(sampling=sampled(top_k=top_k)))
    require_sampling(ask(sampling=sampled(temperature=0.0, top_k=5000)))
    with pytest.raises(UsageError, match="top_k 1025 would be lowered") as caught:
        require_sampling(ask(sampling=sampled(top_k=1025)))
    assert "1 to 1024" in str(caught.value)


def test_controls_of_backend_pytorch_are_refused():
    with pytest.raises(UsageError, match="backend tensorrt has no min_tokens"):
        require_sampling(ask(controls={"min_tokens": 3}))
