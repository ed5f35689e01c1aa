"""Sampling from recipe and command line."""

from trtspec.recipe import Sampling
from trtspec.run import SamplingParams, sampling_params

RECIPE = Sampling(temperature=0.7, top_k=20, top_p=0.9, seed=5)


def test_the_recipe_is_the_default():
    assert sampling_params(RECIPE) == SamplingParams(0.7, 20, 0.9, 5)
    assert sampling_params(RECIPE, temperature=None, seed=None) == SamplingParams(
        0.7, 20, 0.9, 5
    )


def test_a_given_value_wins_even_if_it_is_zero():
    changed = sampling_params(RECIPE, temperature=0.0, top_k=0, top_p=None, seed=1)
    assert changed == SamplingParams(0.0, 0, 0.9, 1)
