"""The JSON Schema: what editors use agrees with what load_recipe accepts."""

import json
from pathlib import Path

import pytest

from trtspec.methods import NoSpeculation
from trtspec.recipe import load_recipe, recipe_json_schema
from trtspec.recipe.yaml_lines import parse_yaml

BUNDLED = sorted((Path(__file__).parents[2] / "recipes").glob("*/*.yaml"))


@pytest.fixture(scope="module")
def schema():
    return recipe_json_schema()


@pytest.fixture(scope="module")
def validator(schema):
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def as_json(text):
    """Give a recipe as an editor sees it: JSON, where keys are text."""
    return json.loads(json.dumps(parse_yaml(text, "f").value))


def test_dialect_and_title_are_named(schema):
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"] == "trtspec recipe"
    assert "$id" not in schema


def test_schema_is_json(schema):
    assert json.loads(json.dumps(schema)) == schema


def test_every_reference_leads_somewhere(schema):
    text = json.dumps(schema)
    for name in schema["$defs"]:
        assert f"#/$defs/{name}" in text
    for reference in text.split('"$ref": "#/$defs/')[1:]:
        assert reference.partition('"')[0] in schema["$defs"]


def test_methods_keep_their_order(schema):
    methods = schema["properties"]["speculation"]["discriminator"]["mapping"]
    assert list(methods) == [
        "none",
        "ngram",
        "suffix",
        "draft_target",
        "medusa",
        "eagle",
        "eagle3",
        "mtp",
        "redrafter",
        "lookahead",
        "pard",
        "dflash",
        "user",
        "auto",
    ]


def test_calls_do_not_share_their_result():
    recipe_json_schema()["properties"].clear()
    assert recipe_json_schema()["properties"]


def test_descriptions_reach_the_editor(schema):
    description = schema["$defs"][NoSpeculation.__name__]["description"]
    assert description == NoSpeculation.__doc__


@pytest.mark.parametrize("path", BUNDLED, ids=lambda p: p.stem)
def test_bundled_recipes_are_valid(validator, path):
    assert load_recipe(path)
    validator.validate(as_json(path.read_text()))


def test_examples_of_the_schema_are_valid(validator, schema):
    for key, node in schema["properties"].items():
        for example in node.get("examples", []):
            recipe = as_json(BUNDLED[0].read_text()) | {key: example}
            validator.validate(recipe)


@pytest.mark.parametrize(
    "change",
    [
        "zzz: 1",
        "limits: {max_batch_size: 0}",
        'limits: {max_batch_size: "8"}',
        "speculation: {method: eagle3}",
        "speculation: {method: ngram}",
        "speculation: {method: ngram, draft_length: 0}",
        "speculation: {method: ngram, draft_length: four}",
        "speculation: {method: ngram, draft_length: {}}",
        "speculation: {method: ngram, draft_length: {x: 4}}",
        "speculation: {method: ngram, draft_length: {8: 999}}",
        "workload: {prompts: p, concurrency: []}",
        "name: Not A Name",
    ],
)
def test_what_load_refuses_is_invalid(validator, problems_of, change):
    key = change.partition(":")[0]
    recipe = parse_yaml(BUNDLED[0].read_text(), "f").value
    recipe |= parse_yaml(change, "f").value
    assert not validator.is_valid(json.loads(json.dumps(recipe)))
    assert any(key in p.what for p in problems_of(json.dumps(recipe)))


def test_map_of_draft_lengths_is_valid(validator):
    speculation = {"method": "ngram", "draft_length": {"8": 4, "32": 2}}
    recipe = as_json(BUNDLED[0].read_text()) | {"speculation": speculation}
    validator.validate(recipe)
