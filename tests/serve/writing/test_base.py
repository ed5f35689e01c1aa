"""What all answers have in common: pieces put together, counts, figures, news."""

from __future__ import annotations

import pytest

from tests.serve.writing.samples import chunk, done, head, logprob, taken
from trtspec.serve.writing.base import figures, finish_of, has_news, usage_of


def test_a_choice_is_the_sum_of_its_chunks():
    end = done()
    choice = taken(
        chunk((7,), "a", logprobs=[logprob(7)]),
        chunk((8, 9), "", logprobs=[logprob(8), logprob(9)]),
        chunk((), "b", end),
    )
    assert choice.text == "ab"
    assert choice.tokens == [7, 8, 9]
    assert [one.token for one in choice.logprobs] == [7, 8, 9]
    assert choice.completion is end


def test_usage_counts_each_prompt_once():
    choices = [taken(chunk((1, 2, 3))), taken(chunk((4,))), taken()]
    usage = usage_of(head(), choices)
    assert usage.prompt_tokens == 3
    assert usage.completion_tokens == 4
    assert usage.total_tokens == 7


def test_figures_are_the_completions():
    found = figures(head(), done(lossy="typical acceptance"))
    assert (found.steps, found.drafted, found.accepted) == (2, 4, 1)
    assert found.acceptance_rate == 0.25
    assert found.acceptance_length == 1.5
    assert found.lossy == "typical acceptance"


def test_what_nothing_was_drafted_for_has_no_rate():
    found = figures(head(), done(steps=0, drafted=0, accepted=0))
    assert found.acceptance_rate is None
    assert found.acceptance_length is None


@pytest.mark.parametrize(
    ("method", "enabled", "said"),
    [("ngram", True, True), ("ngram", False, False), ("none", True, False)],
)
def test_enabled_is_whether_this_request_was_drafted_for(method, enabled, said):
    assert figures(head(method=method, enabled=enabled), done()).enabled is said


def test_ends():
    assert finish_of(None) is None
    for finish in ("stop", "length"):
        assert finish_of(done(finish=finish)) == finish
    with pytest.raises(AssertionError):
        finish_of(done(finish="cancelled"))


@pytest.mark.parametrize(
    ("what", "ids", "news"),
    [
        (chunk((7,), ""), False, False),
        (chunk((7,), ""), True, True),
        (chunk((), ""), True, False),
        (chunk((7,), "x"), False, True),
        (chunk((7,), "", logprobs=[logprob(7)]), False, True),
        (chunk((), "", done()), False, True),
    ],
)
def test_what_is_told(what, ids, news):
    assert has_news(what, head(token_ids=ids)) is news
