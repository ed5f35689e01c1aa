"""What is refused, warned of or let through, release by release, as run has it."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.trtllm.pytorch.launch.recipes import recipe
from trtspec.serve.proxy.screening import Screen

NGRAM = {"method": "ngram", "draft_length": 4}
EAGLE = {"method": "eagle3", "model": "x", "draft_length": 3}
NONE = {"method": "none"}
PATH = "/v1/completions"


def look(version, speculation=NGRAM, options=None, path=PATH, **body):
    made = recipe(speculation=speculation, **(options or {}))
    greedy = {"model": "m", "prompt": "x", "temperature": 0}
    return Screen(made, Version(version)).look(path, greedy | body)


def fields(found):
    return [problem.where for problem in found.refusals]


@pytest.mark.parametrize("speculation", [NGRAM, EAGLE, NONE])
@pytest.mark.parametrize("version", ["1.0.0", "1.1.0", "1.2.1", "1.4.0rc4"])
def test_what_asks_for_nothing_passes_everywhere(version, speculation):
    neutral = {
        "presence_penalty": 0,
        "frequency_penalty": 0.0,
        "repetition_penalty": 1,
        "min_tokens": 0,
        "min_p": 0,
        "logit_bias": {},
        "n": 1,
        "best_of": None,
        "use_beam_search": False,
        "response_format": {"type": "text"},
        "logprobs": None,
        "seed": 3,
        "stop": ["a"],
        "ignore_eos": True,
        "stream": True,
        "unknown": 1,
    }
    found = look(version, speculation, **neutral)
    assert (found.refusals, found.warnings, found.lossy) == ((), (), "")


@pytest.mark.parametrize(
    ("version", "speculation", "body", "refused"),
    [
        ("1.2.1", EAGLE, {"min_tokens": 3}, True),
        ("1.2.1", EAGLE, {"logit_bias": {"1": 2}}, True),
        ("1.2.1", EAGLE, {"min_p": 0.1}, True),
        ("1.2.1", NONE, {"min_tokens": 3}, False),
        ("1.2.1", NONE, {"logit_bias": {"1": 2}}, False),
        ("1.2.1", NGRAM, {"presence_penalty": 0.5}, True),
        ("1.2.1", NONE, {"presence_penalty": 0.5}, True),
        ("1.4.0rc4", NGRAM, {"presence_penalty": 0.5}, False),
        ("1.4.0rc4", EAGLE, {"presence_penalty": 0.5}, True),
        ("1.4.0rc4", EAGLE, {"logprobs": 1}, True),
        ("1.2.1", NGRAM, {"response_format": {"type": "json_object"}}, True),
    ],
)
def test_what_is_dropped_or_rejected_is_refused_by_its_field(
    version, speculation, body, refused
):
    found = look(version, speculation, **body)
    assert fields(found) == (list(body) if refused else [])
    for problem in found.refusals:
        assert problem.what
        assert problem.action


def test_guides_pass_where_the_engine_has_them():
    options = {"guided_decoding": "xgrammar"}
    asked = {"response_format": {"type": "json_object"}}
    assert look("1.2.1", EAGLE, options, **asked).refusals == ()
    assert fields(look("1.2.1", EAGLE, **asked)) == ["response_format"]


def test_penalties_pass_where_the_engine_was_told_to_apply_them():
    options = {"penalties": True}
    assert look("1.4.0rc4", EAGLE, options, presence_penalty=1).refusals == ()


@pytest.mark.parametrize(
    ("speculation", "body"),
    [(EAGLE, {"logprobs": 1}), (NGRAM, {"min_tokens": 3}), (NGRAM, {"n": 2})],
)
def test_what_is_partial_or_not_established_is_warned_of(speculation, body):
    found = look("1.2.1", speculation, **body)
    assert found.refusals == ()
    (warning,) = found.warnings
    assert next(iter(body)) in warning
    assert look("1.2.1", NONE, **body).warnings == ()


def test_chats_have_log_probabilities_of_their_own():
    chat = {"path": "/v1/chat/completions"}
    assert look("1.4.0rc4", EAGLE, logprobs=False, **chat).refusals == ()
    assert fields(look("1.4.0rc4", EAGLE, logprobs=True, **chat)) == ["logprobs"]


@pytest.mark.parametrize(
    ("body", "sampled"),
    [
        ({"temperature": 0}, False),
        ({"temperature": 0.0}, False),
        ({"temperature": 0.5}, True),
        ({"temperature": None}, True),
        ({"temperature": 1, "top_k": 1}, False),
    ],
)
def test_sampling_that_the_release_has_not_is_refused_unless_allowed(body, sampled):
    found = look("1.0.0", NGRAM, **body)
    assert fields(found) == (["temperature"] if sampled else [])
    allowed = look("1.0.0", NGRAM | {"allow_lossy": True}, **body)
    assert allowed.refusals == ()
    assert bool(allowed.lossy) == sampled
    assert look("1.0.0", NONE, **body).refusals == ()


def test_values_of_other_kinds_are_left_to_the_server():
    odd = {"temperature": "hot", "n": "x", "logit_bias": [], "response_format": 3}
    assert look("1.2.1", NGRAM, **odd).refusals == ()
