"""Writing a recipe: it loads back equal, also where YAML 1.1 reads something else."""

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.methods import samples
from trtspec.recipe import Recipe, dump_recipe, load_recipe
from trtspec.recipe.dump import flow_text
from trtspec.recipe.section import MAX_TOKENS
from trtspec.recipe.yaml_lines import parse_yaml

TRICKY = """
    on off yes no ~ null true 012 1:30 0x1f 1e-3 1e5 .5 2024-01-01 = << - * & ! @ % #
    a:b 'a' "a" [a] {a:1} 1_000 0o7 .nan ... ---
"""
TEXT = samples.TEXT | st.sampled_from(TRICKY.split())
OPTIONAL_TEXT = st.none() | TEXT
FRACTION = st.floats(0, 1, exclude_min=True)


@st.composite
def limits(draw):
    total = draw(st.integers(2, MAX_TOKENS))
    return {
        "max_batch_size": draw(st.integers(1, 4096)),
        "max_total_tokens": total,
        "max_input_tokens": draw(st.integers(1, total - 1)),
        "kv_cache_fraction": draw(FRACTION),
    }


FLAGS = st.dictionaries(
    st.from_regex("[A-Za-z][A-Za-z0-9_-]*", fullmatch=True),
    TEXT | st.just("") | st.integers() | st.booleans(),
    max_size=3,
)
ENGINE = st.fixed_dictionaries(
    {},
    optional={
        "max_draft_length": st.none() | st.integers(1, 256),
        "max_num_tokens": st.none() | st.integers(1, MAX_TOKENS),
        "kv_cache": st.sampled_from(["auto", "fp8", "int8"]),
        "gemm_plugin": OPTIONAL_TEXT,
        "calibration_dataset": OPTIONAL_TEXT,
        "calibration_samples": st.none() | st.integers(1, MAX_TOKENS),
        "build_flags": FLAGS,
    },
)


RECIPES = st.fixed_dictionaries(
    {
        "schema": st.just("trtspec/v1"),
        "name": st.from_regex(r"[a-z0-9][a-z0-9._-]{0,79}", fullmatch=True),
        "target": st.fixed_dictionaries(
            {"model": TEXT},
            optional={
                "revision": OPTIONAL_TEXT,
                "dtype": st.sampled_from(["float32", "bfloat16", "float16"]),
                "family": OPTIONAL_TEXT,
                "quantization": st.sampled_from(samples.QUANTIZATIONS),
                "tensor_parallel": st.integers(1, 1024),
            },
        ),
        "speculation": samples.SPECULATION,
    },
    optional={
        "backend": st.sampled_from(["tensorrt", "pytorch", "reference"]),
        "limits": limits(),
        "engine": st.none() | ENGINE,
        "sampling": st.fixed_dictionaries(
            {},
            optional={
                "temperature": st.floats(0, 100),
                "top_k": st.integers(0, MAX_TOKENS),
                "top_p": FRACTION,
                "seed": st.integers(0, 2**63 - 1),
            },
        ),
        "workload": st.none()
        | st.fixed_dictionaries(
            {"prompts": TEXT},
            optional={
                "output_tokens": st.integers(1, MAX_TOKENS),
                "concurrency": st.lists(
                    st.integers(1, 4096), min_size=1, max_size=5, unique=True
                ),
            },
        ),
    },
).map(Recipe.model_validate)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(recipe=RECIPES)
def test_any_recipe_loads_back_equal(recipe_file, recipe):
    assert load_recipe(recipe_file(dump_recipe(recipe))).recipe == recipe


@given(recipe=RECIPES)
def test_readers_of_yaml_1_1_see_the_same(recipe):
    text = dump_recipe(recipe)
    assert yaml.safe_load(text) == parse_yaml(text, "f").value


@given(recipe=RECIPES)
def test_equal_recipes_are_written_alike(recipe):
    copy = Recipe.model_validate(recipe.model_dump(by_alias=True))
    assert dump_recipe(copy) == dump_recipe(recipe)


def test_layout_is_the_one_people_write():
    recipe = Recipe.model_validate(
        {
            "schema": "trtspec/v1",
            "name": "x",
            "target": {"model": "demo:m", "revision": "0123"},
            "speculation": {"method": "ngram", "draft_length": {32: 2, 8: 4}},
            "workload": {"prompts": "p.jsonl", "concurrency": [1, 4]},
        }
    )
    lines = dump_recipe(recipe).splitlines()
    assert lines[:4] == [
        "schema: trtspec/v1",
        "name: x",
        "backend: reference",
        "target:",
    ]
    assert "  model: demo:m" in lines
    assert '  revision: "0123"' in lines
    assert "  draft_length: {8: 4, 32: 2}" in lines
    assert "  concurrency: [1, 4]" in lines


def test_keys_without_a_value_are_left_out():
    text = dump_recipe(Recipe.model_validate(MINIMAL))
    assert "revision" not in text
    assert "workload" not in text
    assert "kv_cache_fraction: 0.85" in text


TREE = """\
speculation:
  method: medusa
  allow_lossy: false
  model: d
  num_heads: 4
  num_layers: 1
  max_draft_tokens: 63
  tree: [[0], [0, 0], [1]]
"""
ENGINE_BLOCK = """\
engine:
  kv_cache: auto
  build_flags:
    multiple_profiles: enable
    max_beam_width: 1
    strip_plan: true
"""
MINIMAL = {
    "schema": "trtspec/v1",
    "name": "x",
    "target": {"model": "a"},
    "speculation": {"method": "none"},
}


def test_paths_of_a_tree_stand_in_one_line():
    medusa = {"method": "medusa", "model": "d", "tree": [[0], [0, 0], [1]]}
    recipe = Recipe.model_validate(MINIMAL | {"speculation": medusa})
    assert TREE in dump_recipe(recipe)


def test_flags_of_the_engine_stand_one_below_the_other():
    flags = {"multiple_profiles": "enable", "max_beam_width": 1, "strip_plan": True}
    recipe = Recipe.model_validate(MINIMAL | {"engine": {"build_flags": flags}})
    assert ENGINE_BLOCK in dump_recipe(recipe)


@pytest.mark.parametrize("engine", [{}, {"build_flags": {}}, {"kv_cache": "fp8"}])
def test_engine_block_without_flags_loads_back(recipe_file, engine):
    recipe = Recipe.model_validate(MINIMAL | {"engine": engine})
    text = dump_recipe(recipe)
    assert "  build_flags: {}\n" in text
    assert load_recipe(recipe_file(text)).recipe.engine == recipe.engine


@pytest.mark.parametrize("engine", [{}, {"engine": None}])
def test_engine_block_that_is_not_given_is_left_out(engine):
    recipe = Recipe.model_validate(MINIMAL | engine)
    assert "engine" not in dump_recipe(recipe)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (4, "4"),
        ("ngram", "ngram"),
        ("on", '"on"'),
        ("1e5", '"1e5"'),
        ([1, 4], "[1, 4]"),
        ({"method": "ngram", "draft_length": 4}, "{method: ngram, draft_length: 4}"),
        ({8: 4, 32: 2}, "{8: 4, 32: 2}"),
    ],
)
def test_flow_text_is_one_line(value, text):
    assert flow_text(value) == text
