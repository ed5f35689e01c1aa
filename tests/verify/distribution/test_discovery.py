import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from trtspec.verify.distribution.discovery import benjamini_hochberg

p_values = st.lists(st.floats(1e-6, 1), min_size=1, max_size=30)


@given(p_values, st.floats(0.001, 0.5))
def test_it_is_scipys(found, rate):
    adjusted = false_discovery_control(found)
    near = np.abs(adjusted - rate) < 1e-12
    ours = benjamini_hochberg(found, rate)
    assert (ours | near).tolist() == ((adjusted <= rate) | near).tolist()


def test_a_later_value_can_carry_an_earlier_one():
    assert benjamini_hochberg([0.03, 0.04, 0.9], 0.06).tolist() == [True, True, False]


def test_one_value_is_compared_with_the_rate_itself():
    assert benjamini_hochberg([0.05], 0.05).tolist() == [True]
    assert benjamini_hochberg([0.051], 0.05).tolist() == [False]


@pytest.mark.parametrize("prompts", [1, 8, 40])
def test_without_anything_to_find_the_rate_is_the_chance_of_any_discovery(prompts):
    rng = np.random.default_rng(3)
    runs = rng.random((4000, prompts))
    share = np.mean([benjamini_hochberg(p, 0.1).any() for p in runs])
    assert share == pytest.approx(0.1, abs=0.02)
