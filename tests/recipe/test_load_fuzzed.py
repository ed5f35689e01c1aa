"""Loading anything at all: a recipe, or problems in our words with a line."""

import re

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trtspec.errors import RecipeError
from trtspec.methods import MAX_DRAFT_LENGTH
from trtspec.recipe import load_recipe

VALID = {
    "schema": "trtspec/v1",
    "name": "x",
    "backend": "reference",
    "target": {"model": "a", "dtype": "float32", "revision": "main"},
    "speculation": {"method": "draft_target", "model": "b", "draft_length": {8: 4}},
    "limits": {"max_batch_size": 8, "kv_cache_fraction": 0.5},
    "sampling": {"temperature": 0.0, "seed": 1},
    "workload": {"prompts": "p", "concurrency": [1, 4]},
}
EAGLE = {
    "method": "eagle",
    "model": "b",
    "tree": [[0], [0, 0]],
    "num_layers": 2,
    "acceptance": "typical",
    "posterior_threshold": 0.1,
    "dynamic_top_k": None,
    "allow_lossy": False,
}
ENGINE = {
    "max_draft_length": 4,
    "kv_cache": "auto",
    "gemm_plugin": "auto",
    "build_flags": {"a": "b", "c": 1},
}
OTHER = VALID | {"backend": "tensorrt", "speculation": EAGLE, "engine": ENGINE}
OTHER_PATHS = [
    *[("speculation", key) for key in [*EAGLE, "draft_length", "num_beams"]],
    ("speculation", "tree", 1),
    ("speculation", "tree", 1, 0),
    *[("engine", key) for key in [*ENGINE, "new"]],
    ("engine", "build_flags", "a"),
    ("engine", "build_flags", "[key]"),
    ("engine", "build_flags", 8),
]
PATHS = [
    *[(key,) for key in VALID],
    *[(a, b) for a in VALID if isinstance(VALID[a], dict) for b in VALID[a]],
    ("speculation", "draft_length", 8),
    ("workload", "concurrency", 0),
    ("speculation", "new"),
    ("new",),
]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(2**62, 2**80)
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["none", "ngram", "fp16", "8", "on", "method", "schema_"])
    | st.sampled_from(["dynamic", "eagle3", "medusa", "[key]", "typical"])
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.integers() | st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)


def replaced(value, path, new):
    if not path:
        return new
    copy = list(value) if isinstance(value, list) else dict(value)
    old = copy[path[0]] if len(path) > 1 else None
    copy[path[0]] = replaced(old, path[1:], new)
    return copy


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    place=st.sampled_from([(VALID, path) for path in PATHS])
    | st.sampled_from([(OTHER, path) for path in OTHER_PATHS]),
    new=VALUES,
)
def test_any_value_anywhere_loads_or_is_refused_in_our_words(recipe_file, place, new):
    recipe, path = place
    text = yaml.safe_dump(replaced(recipe, path, new), allow_unicode=True)
    try:
        loaded = load_recipe(recipe_file(text))
    except RecipeError as error:
        for problem in error.problems:
            assert re.fullmatch(r"recipe\.yaml:[1-9][0-9]*", problem.where)
            assert problem.what
            assert not re.search("pydantic|Input should|type=|union", str(problem))
    else:
        assert loaded.recipe.speculation.longest_draft <= MAX_DRAFT_LENGTH


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(text=st.text(alphabet="ab:-[]{}#&*!|>'\"%@?,<~018. \t\n\r\0\x85", max_size=40))
def test_any_text_is_refused_with_a_line(recipe_file, text):
    with pytest.raises(RecipeError) as caught:
        load_recipe(recipe_file(text))
    lines = text.count("\n") + text.count("\r") + text.count("\x85") + 1
    for problem in caught.value.problems:
        assert 1 <= int(problem.where.removeprefix("recipe.yaml:")) <= lines
