"""Every key of a recipe, however deep, says in an editor what it means."""

import pytest

from trtspec.recipe import recipe_json_schema

SCHEMA = recipe_json_schema()


def resolved(node):
    """Give a node with what its reference says, as an editor shows it."""
    name = node.get("$ref", "").rpartition("/")[2]
    return SCHEMA["$defs"][name] | node if name else node


def sections():
    """Give every map with keys of its own, by name."""
    yield "recipe", SCHEMA
    yield from SCHEMA["$defs"].items()


def keys():
    for name, node in sections():
        for key, below in node["properties"].items():
            yield pytest.param(below, id=f"{name}.{key}")


KEYS = list(keys())


def choices(node):
    """Give the forms that a value can have, at any depth; null is none."""
    given = [*node.get("anyOf", []), *node.get("oneOf", [])]
    forms = [form for form in given if form.get("type") != "null"]
    for form in forms:
        yield form, len(forms)
        yield from choices(form)
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield from choices(node[key])


def test_every_section_says_what_it_is():
    assert [name for name, node in sections() if not node.get("description")] == []


@pytest.mark.parametrize("node", KEYS)
def test_every_key_says_what_it_means(node):
    assert resolved(node)["description"].endswith(".")


@pytest.mark.parametrize("node", KEYS)
def test_of_several_forms_each_says_what_it_is(node):
    several = [form for form, count in choices(node) if count > 1]
    assert [form for form in several if not resolved(form).get("description")] == []


def test_keys_at_every_depth_are_looked_at():
    found = {parameter.id for parameter in KEYS}
    assert {"recipe.limits", "Eagle3.tree", "EngineOptions.build_flags"} <= found
    flags = SCHEMA["$defs"]["EngineOptions"]["properties"]["build_flags"]
    assert len(list(choices(flags))) == 3
