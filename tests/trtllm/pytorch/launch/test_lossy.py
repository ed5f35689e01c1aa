"""Whoever serves a lossy combination is told for which requests it is lossy."""

import pytest
from packaging.version import Version

from tests.trtllm.pytorch.launch.recipes import recipe
from trtspec.trtllm.pytorch.launch.lossy import lossy_warnings

EAGLE3 = {"method": "eagle3", "model": "./head", "draft_length": 3}


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0"])
def test_sampled_requests_that_are_decoded_greedily_are_lossy(version):
    (warning,) = lossy_warnings(recipe(speculation=EAGLE3), Version(version))
    assert warning.startswith("lossy for requests with a temperature above 0: ")
    assert "greedily" in warning


@pytest.mark.parametrize("version", ["1.2.1", "1.3.0rc25"])
def test_exact_combination_warns_of_nothing(version):
    assert lossy_warnings(recipe(speculation=EAGLE3), Version(version)) == ()


def test_method_that_is_lossy_for_all_says_so_once():
    relaxed = {
        "method": "mtp",
        "draft_length": 3,
        "acceptance": "relaxed",
        "relaxed_top_k": 10,
        "relaxed_delta": 0.6,
    }
    (warning,) = lossy_warnings(recipe(speculation=relaxed), Version("1.2.1"))
    assert warning.startswith("lossy for every request: ")


def test_without_speculation_nothing_is_lossy():
    plain = recipe(speculation={"method": "none"})
    assert lossy_warnings(plain, Version("1.0.0")) == ()
