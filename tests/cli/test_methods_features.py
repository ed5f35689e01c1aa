"""``trtspec methods NAME`` says what goes together with the method, by release."""

import pytest

from trtspec.cli.methods_features import feature_lines
from trtspec.methods.catalogue import METHODS
from trtspec.trtllm.facts.combinations import features

NOT_SERVED = ("none", "medusa", "eagle", "redrafter", "lookahead")


def text(name):
    return " ".join(" ".join(feature_lines(name)).split())


@pytest.mark.parametrize("name", list(METHODS))
def test_methods_that_are_served_have_a_line_per_feature(name):
    shown = text(name)
    assert bool(shown) == (name not in NOT_SERVED)
    if shown:
        for feature in ("lora", "guided_decoding", "cuda_graphs", "beams"):
            assert features()[feature].title in shown


def test_states_are_those_of_the_table():
    shown = text("ngram")
    assert "pipeline parallelism: 1.0 refused, 1.1 refused, 1.2 refused" in shown
    assert "LoRA: 1.0 broken, 1.1 broken, 1.2 broken, main untested" in shown
    assert "overlap scheduler: 1.0 ignored" in shown


def test_each_way_of_drafting_is_told_by_itself():
    shown = text("eagle3")
    for way in ("eagle3 with", "eagle3 as two models with", "a dynamic tree with"):
        assert f"{way} other features" in shown
    assert "guided decoding: main broken" in shown
