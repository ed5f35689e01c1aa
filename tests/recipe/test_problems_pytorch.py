"""Problems of the pytorch section: keys that are no names."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("written", "key"), [("1: 2", "1"), ("-3: {a: 1}", "-3"), ("5: [1]", "5")]
)
def test_a_number_is_no_key_of_the_llm_api(problem_of, ngram, written, key):
    problem = problem_of(ngram + f"pytorch:\n  llm_args:\n    {written}\n")
    assert problem.where == "recipe.yaml:10"
    assert problem.what == f"pytorch.llm_args has the key {key}, which is no name"
    assert "name" in problem.action


def test_each_key_that_is_none_is_told(problems_of, ngram):
    problems = problems_of(
        ngram + 'pytorch: {llm_args: {1: 2, "[key]": 3, 4: 5}, kv_cache: "[key]"}\n'
    )
    assert {problem.what for problem in problems} == {
        "pytorch.llm_args has the key 1, which is no name",
        "pytorch.llm_args has the key 4, which is no name",
        'pytorch.kv_cache is "[key]", which is not known',
    }


def test_numbers_are_keys_of_the_maps_below(recipe_file, ngram):
    from trtspec.recipe import load_recipe

    text = "pytorch: {llm_args: {speculative_config: {draft_len_schedule: {1: 3}}}}\n"
    loaded = load_recipe(recipe_file(ngram + text)).recipe
    assert loaded.pytorch.llm_args["speculative_config"]["draft_len_schedule"] == {1: 3}
