"""What is taken in place of a method of engines is said once, for each reader."""

import pytest

from tests.trtllm.engine_recipes import OTHERS
from trtspec.trtllm.alternatives import ALTERNATIVES

NAMES = {"eagle3": "Eagle3", "draft_target": "Draft_Target", "ngram": "NGram"}


def test_every_method_without_equivalent_has_one():
    assert ALTERNATIVES.keys() == set(OTHERS)


@pytest.mark.parametrize("method", ALTERNATIVES)
def test_methods_are_named_as_the_reader_writes_them(method):
    for recipe_name, yaml_name in NAMES.items():
        assert recipe_name in ALTERNATIVES[method].take
        assert yaml_name in ALTERNATIVES[method].spelled(NAMES)
        assert recipe_name not in ALTERNATIVES[method].spelled(NAMES)
