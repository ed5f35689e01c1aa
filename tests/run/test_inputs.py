"""Sampling and speculation from recipe and command line."""

import pytest

from tests.bench.fakes import FakeRunner
from tests.trtllm.engine_recipes import recipe
from trtspec.errors import Problem, UsageError
from trtspec.methods import Lookahead, NGram
from trtspec.recipe import Prompt, Sampling
from trtspec.run import (
    Asked,
    SamplingParams,
    make_requests,
    own_speculation,
    sampling_params,
)

RECIPE = Sampling(temperature=0.7, top_k=20, top_p=0.9, seed=5)

NGRAM = NGram(method="ngram", draft_length=4, max_matching_ngram=2)
LOOKAHEAD = Lookahead(
    method="lookahead", window_size=2, ngram_size=4, verification_set_size=2
)


def refused(method, draft_length=None, lookahead=None):
    with pytest.raises(UsageError) as caught:
        own_speculation(method, draft_length, lookahead)
    return caught.value.problems


def test_the_recipe_is_the_default():
    assert sampling_params(RECIPE) == SamplingParams(0.7, 20, 0.9, 5)
    assert sampling_params(RECIPE, temperature=None, seed=None) == SamplingParams(
        0.7, 20, 0.9, 5
    )


def test_a_given_value_wins_even_if_it_is_zero():
    changed = sampling_params(RECIPE, temperature=0.0, top_k=0, top_p=None, seed=1)
    assert changed == SamplingParams(0.0, 0, 0.9, 1)


def test_a_method_is_taken_with_what_is_given_instead():
    assert own_speculation(NGRAM, None, None) is None
    assert own_speculation(NGRAM, 2, None) == NGRAM.model_copy(
        update={"draft_length": 2}
    )
    own = own_speculation(LOOKAHEAD, None, (2, 3, 0))
    assert (own.window_size, own.ngram_size, own.verification_set_size) == (2, 3, 0)


@pytest.mark.parametrize(
    ("sizes", "what", "allowed"),
    [
        ((0, 2, 2), "window_size 0", "1 or more"),
        ((2, 2, -1), "verification_set_size -1", "0 or more"),
        ((2, 300, 2), "ngram_size 300", "256 or less"),
        ((2, 1, 2), "ngram_size is 1, which has no n-grams", "ngram_size 2 or more"),
    ],
)
def test_a_size_that_is_not_valid_is_named_with_what_is_allowed(sizes, what, allowed):
    (problem,) = refused(LOOKAHEAD, lookahead=sizes)
    assert problem.where == "--lookahead"
    assert problem.what.startswith(what)
    assert problem.allowed.startswith(allowed)


def test_a_draft_length_that_is_not_valid_is_named_with_what_is_allowed():
    (problem,) = refused(NGRAM, draft_length=300)
    assert (problem.where, problem.what) == ("--draft-length", "draft_length 300")
    assert "from 1 to 256" in problem.allowed


def test_every_size_above_the_recipe_s_is_named():
    action = "lower it, or build a recipe with a larger "
    allowed = "up to the recipe's 2"
    assert refused(LOOKAHEAD, lookahead=(5, 4, 6)) == (
        Problem("window_size 5", "--lookahead", allowed, f"{action}window_size"),
        Problem(
            "verification_set_size 6",
            "--lookahead",
            allowed,
            f"{action}verification_set_size",
        ),
    )


def test_a_method_without_the_parameter_says_so():
    (problem,) = refused(recipe("medusa").speculation, draft_length=3)
    assert problem.what == "method medusa has no draft length of its own"
    (problem,) = refused(NGRAM, lookahead=(2, 2, 2))
    assert problem.what == "method ngram has no lookahead sizes"


def test_every_request_gets_the_controls():
    prompts = [Prompt(n, "", ({"role": "user", "content": "xx"},)) for n in "ab"]
    asked = Asked(4, SamplingParams(seed=3), controls={"min_p": 0.1}, raw=True)
    made = make_requests(FakeRunner(), prompts, asked)
    assert [r.controls for r in made] == [{"min_p": 0.1}] * 2
    assert [r.sampling.seed for r in made] == [3, 4]
    assert len({hash(r) for r in made}) == 2
