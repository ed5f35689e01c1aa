"""Recipes by the JSON Schema, mostly valid, some of them spoilt somewhere."""

import math
import re

import yaml
from hypothesis import strategies as st

from trtspec.recipe.json_schema import recipe_json_schema

SCHEMA = recipe_json_schema()
PROMPTS = st.sampled_from(["prompts.jsonl", "spoilt.jsonl", "absent.jsonl", "."])
TREES = ([[0]], [[0], [1], [0, 0]], [[0], [0, 0], [0, 0, 0]], [[0], [0, 1]])
LARGEST = 64
"""Numbers are small more often than not: large ones are refused at once."""

ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 300),
    st.integers(2**31, 2**70),
    st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 1e-320, 1e308]),
    st.sampled_from(["", " ", "on", "8", "0x10", "1e3", "\u202e\u0000x", "é", "☃" * 9]),
    st.sampled_from([[], {}, [[]], {"": ""}, {"8": 4}, {8: 4, 32: 2}, [1, "a", None]]),
    st.text(max_size=6),
)
NOISE = (
    "\t",
    "- ",
    ": ",
    "{",
    "]",
    "&a ",
    "*a",
    "!!python/object:os ",
    "#",
    "'",
    "%",
    "|",
)


def recipes(models, drafters):
    """Give the text of recipes whose models are among these.

    :param models: names of checkpoints, relative to the recipe; the first is a target.
    :param drafters: by method, what drafts for it.
    """
    chance = st.randoms(use_true_random=False)
    valid = _value(SCHEMA, st.sampled_from(models))
    sensible = st.builds(_sensible, valid, chance, st.just((models[0], drafters)))
    whole = st.one_of(sensible, sensible, sensible, valid)
    texts = st.one_of(whole, st.builds(_spoil, whole, chance, ODD)).map(_text)
    return st.one_of(texts, texts, texts, texts, st.builds(_noisy, texts, chance))


def _sensible(recipe, random, named):
    """Give a recipe models and limits that go together, and no other backend's part."""
    target, drafters = named
    for part, backend in (("engine", "tensorrt"), ("pytorch", "pytorch")):
        if recipe.get("backend", "reference") != backend:
            recipe.pop(part, None)
    recipe["target"] = {**recipe["target"], "model": target}
    for key in ("revision", "chat_template"):
        recipe["target"].pop(key, None)
    method = recipe["speculation"]
    if "model" in method:
        method["model"] = drafters[method["method"]]
    recipe["limits"] = {
        "max_batch_size": random.choice([1, 4, 64]),
        "max_input_tokens": random.choice([8, 16]),
        "max_total_tokens": random.choice([32, 64]),
    }
    return recipe


def _value(schema, models):
    """Give what a part of the schema allows."""
    if "$ref" in schema:
        return _value(SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]], models)
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return st.one_of([_value(part, models) for part in schema[choice]])
    return _OF_TYPE[schema.get("type", "null")](schema, models)


def _object(schema, models):
    if "properties" not in schema:
        inner = schema.get("additionalProperties")
        values = _value(inner, models) if isinstance(inner, dict) else ODD
        numbered = "1-9" in str(schema.get("propertyNames", ""))
        keys = st.integers(1, LARGEST) if numbered else st.sampled_from(["--a", "b"])
        return st.dictionaries(keys, values, min_size=1, max_size=3)
    required = set(schema.get("required", ()))
    parts = {}
    for name, part in schema["properties"].items():
        given = {"model": models, "prompts": PROMPTS, "tree": st.sampled_from(TREES)}
        parts[name] = given[name] if name in given else _value(part, models)
    optional = {key: value for key, value in parts.items() if key not in required}
    needed = {key: value for key, value in parts.items() if key in required}
    return st.fixed_dictionaries(needed, optional=optional)


def _number(schema, _models):
    low, high = schema.get("minimum", 0.0), schema.get("maximum", 2.0)
    return st.floats(low, high, allow_nan=False)


def _integer(schema, _models):
    low = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
    high = schema.get("maximum", 2**40)
    small = st.integers(low, min(high, low + LARGEST))
    return st.one_of(small, small, st.integers(low, high))


def _array(schema, models):
    inner = _value(schema.get("items", {"type": "integer"}), models)
    most = min(schema.get("maxItems", 4), 4)
    return st.lists(inner, min_size=min(schema.get("minItems", 0), most), max_size=most)


def _string(schema, _models):
    examples = [e for e in schema.get("examples", ()) if isinstance(e, str)]
    return st.sampled_from(examples or ["main", "x", "a-b.c"])


_OF_TYPE = {
    "object": _object,
    "number": _number,
    "integer": _integer,
    "array": _array,
    "string": _string,
    "boolean": lambda _schema, _models: st.booleans(),
    "null": lambda _schema, _models: st.none(),
}


def _spoil(recipe, random, odd):
    """Replace, remove or add one thing, at any depth."""
    holders = [found for found in _holders(recipe) if found]
    if not holders:
        return odd
    holder = random.choice(holders)
    keys = list(holder) if isinstance(holder, dict) else list(range(len(holder)))
    key = random.choice(keys)
    act = random.randrange(4)
    if act == 0 and isinstance(holder, dict):
        del holder[key]
    elif act == 1 and isinstance(holder, dict):
        holder[str(key)[:-1] or "key"] = odd
    else:
        holder[key] = odd
    return recipe


def _holders(value):
    if isinstance(value, dict | list):
        yield value
        for part in value.values() if isinstance(value, dict) else value:
            yield from _holders(part)


def _text(recipe):
    return yaml.safe_dump(recipe, sort_keys=False, allow_unicode=True)


def _noisy(text, random):
    """Put YAML's own signs where they do not belong, or cut the text off."""
    place = random.randrange(len(text) + 1)
    if random.random() < 0.2:
        return text[:place]
    lines = [m.end() for m in re.finditer(r"\n", text)] or [0]
    start = random.choice([place, random.choice(lines)])
    return text[:start] + random.choice(NOISE) + text[start:]
