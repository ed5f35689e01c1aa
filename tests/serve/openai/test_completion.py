"""Completions: four kinds of prompts, and the fields that only they have."""

from __future__ import annotations

import pytest

from tests.serve.openai.bodies import read, refusal
from trtspec.serve.openai.completion import USUAL_TOKENS, CompletionRequest


def body(**fields):
    return read(CompletionRequest, **fields)


def wrong(**fields):
    return refusal(CompletionRequest, **fields)


@pytest.mark.parametrize(
    ("prompt", "prompts"),
    [
        ("w3 w4", ["w3 w4"]),
        ([3, 4], [[3, 4]]),
        (["w3", "w4 w5"], ["w3", "w4 w5"]),
        ([[3], [4, 5]], [[3], [4, 5]]),
    ],
)
def test_prompts_of_all_four_kinds(prompt, prompts):
    assert body(prompt=prompt).prompts == prompts


@pytest.mark.parametrize(
    "prompt",
    [
        *("", [], [""], [[]], None, 5, 1.5, {}, True),
        *(["w3", 3], [3, "w3"], [[3], "w3"], [3, -1], [3, 1.5], [[3, True]], [["w3"]]),
    ],
)
def test_prompts_that_are_refused(prompt):
    said = wrong(prompt=prompt)
    assert said.status == 400
    assert said.param.split(".")[0] == "prompt"


def test_long_prompts_of_wrong_tokens_are_not_told_one_by_one():
    said = wrong(prompt=["x", *range(5000)])
    assert len(said.message) < 1500


def test_most_tokens_are_those_of_openai_if_not_said():
    assert body().wanted_tokens == USUAL_TOKENS == 16
    assert body(max_tokens=None).wanted_tokens == 16
    assert body(max_tokens=3).wanted_tokens == 3


@pytest.mark.parametrize("count", [None, 0, 5, 20])
def test_logprobs_are_a_number(count):
    assert body(logprobs=count).wanted_logprobs == count


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("logprobs", (0, 20, 5.0, None), (21, -1, True, "5")),
        ("echo", (False, None), (True, 1)),
        ("suffix", ("", None), ("x",)),
        ("best_of", (1, None), (2, 0)),
    ],
)
def test_fields_of_completions(field, good, bad):
    for value in good:
        body(**{field: value})
    for value in bad:
        assert wrong(**{field: value}).param.split(".")[0] == field


def test_chats_fields_are_not_a_completions():
    for field, value in (("top_logprobs", 1), ("max_completion_tokens", 5)):
        assert wrong(**{field: value}).param == field
