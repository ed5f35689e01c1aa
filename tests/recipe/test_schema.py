"""The recipe's schema: defaults, strictness, bounds and rules across keys."""

import math

import pytest
from pydantic import ValidationError

from trtspec.recipe import EngineOptions, Limits, Recipe, Sampling, Target, Workload
from trtspec.recipe.section import MAX_TOKENS

MINIMAL = {
    "schema": "trtspec/v1",
    "name": "x",
    "target": {"model": "a"},
    "speculation": {"method": "none"},
}


def errors(model_class, /, **fields):
    with pytest.raises(ValidationError) as caught:
        model_class.model_validate(fields)
    return [e["type"] for e in caught.value.errors()]


def test_defaults_are_those_of_the_embedded_engine():
    recipe = Recipe.model_validate(MINIMAL)
    assert recipe.backend == "reference"
    assert recipe.sampling == Sampling(temperature=0.0, top_k=0, top_p=1.0, seed=0)
    assert recipe.limits.max_input_tokens < recipe.limits.max_total_tokens
    assert recipe.workload is None
    assert recipe.engine is None
    assert recipe.target.family is None


@pytest.mark.parametrize("key", list(MINIMAL))
def test_four_keys_are_required(key):
    fields = {k: v for k, v in MINIMAL.items() if k != key}
    assert errors(Recipe, **fields) == ["missing"]


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (Recipe, MINIMAL | {"extra": 1}),
        (Recipe, MINIMAL | {"schema_": "trtspec/v1"}),
        (Target, {"model": "a", "extra": 1}),
        (Limits, {"extra": 1}),
        (EngineOptions, {"extra": 1}),
        (Sampling, {"extra": 1}),
        (Workload, {"prompts": "p", "extra": 1}),
    ],
)
def test_no_section_takes_unknown_keys(model, fields):
    assert errors(model, **fields) == ["extra_forbidden"]


@pytest.mark.parametrize("value", ["8", 8.0, True, None, [8]])
def test_whole_numbers_are_strict(value):
    assert errors(Limits, max_batch_size=value) == ["int_type"]


def test_whole_number_is_fine_for_a_fraction():
    assert Sampling(temperature=1).temperature == 1.0


@pytest.mark.parametrize("value", ["0.5", True, None])
def test_fractions_are_strict(value):
    assert errors(Sampling, temperature=value) == ["float_type"]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("key", ["temperature", "top_p"])
def test_numbers_are_finite(key, value):
    assert len(errors(Sampling, **{key: value})) == 1


@pytest.mark.parametrize(
    ("model", "key", "inside", "outside"),
    [
        (Limits, "max_batch_size", (1, 4096), (0, 4097)),
        (Limits, "max_total_tokens", (1025, MAX_TOKENS), (1, MAX_TOKENS + 1)),
        (Limits, "max_input_tokens", (1, 2047), (0, MAX_TOKENS + 1)),
        (Limits, "kv_cache_fraction", (0.01, 1.0), (0.0, 1.01)),
        (EngineOptions, "max_draft_length", (1, 256, None), (0, 257)),
        (EngineOptions, "max_num_tokens", (1, MAX_TOKENS, None), (0, MAX_TOKENS + 1)),
        (EngineOptions, "calibration_samples", (1, None), (0, MAX_TOKENS + 1)),
        (EngineOptions, "gemm_plugin", ("auto", None), ("",)),
        (EngineOptions, "calibration_dataset", ("a/b", None), ("",)),
        (EngineOptions, "kv_cache", ("auto", "fp8", "int8"), ("fp16", None)),
        (Sampling, "temperature", (0.0, 100.0), (-0.1, 100.1)),
        (Sampling, "top_k", (0, 1000), (-1, MAX_TOKENS + 1)),
        (Sampling, "top_p", (0.001, 1.0), (0.0, 1.001)),
        (Sampling, "seed", (0, 2**63 - 1), (-1, 2**63)),
    ],
)
def test_bounds(model, key, inside, outside):
    for value in inside:
        assert getattr(model.model_validate({key: value}), key) == value
    for value in outside:
        assert len(errors(model, **{key: value})) == 1


@pytest.mark.parametrize("value", ["enable", "", 3, -1, True, False])
def test_flag_keeps_the_type_of_its_value(value):
    read = EngineOptions(build_flags={"a_flag": value}).build_flags["a_flag"]
    assert (type(read), read) == (type(value), value)


@pytest.mark.parametrize("flags", [{"a": 1.5}, {"a": None}, {"a": []}, {"--a": 1}])
def test_flag_is_a_name_with_text_a_whole_number_or_a_boolean(flags):
    assert errors(EngineOptions, build_flags=flags) == ["recipe_rule"]


def test_sections_do_not_share_their_flags():
    EngineOptions().build_flags["a"] = 1
    assert EngineOptions().build_flags == {}


@pytest.mark.parametrize(
    "quantization", ["none", "fp8", "nvfp4", "int4_awq", "int8_sq", "int8_wo"]
)
def test_quantizations_of_a_target(quantization):
    target = Target(model="a", quantization=quantization, family="llama")
    assert target.quantization == quantization


@pytest.mark.parametrize("name", ["x", "a1", "smollm2-135m_v1.0", "0", "x" * 80])
def test_names_that_are_safe_as_directories(name):
    assert Recipe.model_validate(MINIMAL | {"name": name}).name == name


@pytest.mark.parametrize(
    "name", ["", ".", "..", "-x", "A", "a/b", "a b", "a\n", "é", "x" * 81, ".hidden"]
)
def test_names_that_are_not(name):
    assert len(errors(Recipe, **MINIMAL | {"name": name})) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"max_input_tokens": 2048},
        {"max_input_tokens": 4096, "max_total_tokens": 4096},
        {"max_total_tokens": 1024},
    ],
)
def test_limits_leave_room_for_output(fields):
    assert errors(Limits, **fields) == ["recipe_rule"]


def test_concurrencies_are_a_tuple_in_the_given_order():
    assert Workload(prompts="p", concurrency=[4, 1]).concurrency == (4, 1)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ([1, 1], "recipe_rule"),
        ([], "too_short"),
        (4, "tuple_type"),
        ("1", "tuple_type"),
        (["1", 2], "int_type"),
        ([True, 2], "int_type"),
        ([0, 2], "greater_than_equal"),
        (list(range(1, 66)), "too_long"),
    ],
)
def test_concurrencies_are_distinct_counts(value, kind):
    assert errors(Workload, prompts="p", concurrency=value) == [kind]


@pytest.mark.parametrize("section", ["target", "limits", "sampling"])
def test_recipe_is_frozen(section):
    recipe = Recipe.model_validate(MINIMAL)
    with pytest.raises(ValidationError):
        setattr(recipe, section, None)


def test_every_key_is_described():
    schema = Recipe.model_json_schema()
    for node in [schema, *schema["$defs"].values()]:
        for key, value in node["properties"].items():
            assert value.get("description") or "$ref" in value, key
