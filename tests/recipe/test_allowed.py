"""The schema in words: keys of sections, allowed values, places of keys."""

import pytest

from trtspec.recipe.allowed import SchemaWords

RECIPE = {
    "target": {"model": "a"},
    "speculation": {"method": "ngram", "draft_length": {8: 4}},
    "workload": {"concurrency": [1, 4]},
}


@pytest.fixture(scope="module")
def words():
    return SchemaWords()


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("backend",), "tensorrt, pytorch, reference"),
        (("schema",), "trtspec/v1"),
        (("limits", "max_batch_size"), "a whole number from 1 to 4096"),
        (("limits", "kv_cache_fraction"), "a number above 0 and at most 1"),
        (("sampling", "temperature"), "a number from 0 to 100"),
        (("workload", "concurrency", 1), "a whole number from 1 to 4096"),
        (("speculation", "max_matching_ngram"), "a whole number from 1 to 16"),
        (
            ("target", "revision"),
            "text: branch, tag or commit on the hub; its default if unset",
        ),
        (
            ("workload", "concurrency"),
            "a list such as [1, 4]; each entry a whole number from 1 to 4096",
        ),
        (
            ("workload",),
            "a map with the keys prompts, output_tokens, concurrency",
        ),
        (
            ("speculation",),
            "a map with the keys method, draft_length, acceptance, max_matching_ngram",
        ),
    ],
)
def test_allowed_values_in_words(words, path, expected):
    assert words.describe(words.node(path, RECIPE)) == expected


def test_every_key_of_the_schema_can_be_described(words):
    from trtspec.recipe.remedy import remedy

    sections = [(name, words.node((name,), {})) for name in words.root["properties"]]
    sections += list(words.methods().items())
    for name, section in sections:
        for key in words.keys(section):
            node = words.node((name, key), {})
            if key != "draft_length" and node:
                assert words.describe(node)
                assert isinstance(remedy(key, "x", "x", node), str)


def test_speculation_without_a_known_method_is_a_choice(words):
    node = words.node(("speculation",), {"speculation": {"method": "zzz"}})
    assert words.describe(node).endswith("one of none, ngram, draft_target")
    assert words.node(("speculation",), {"speculation": {"method": ["x"]}}) == node


def test_unknown_path_has_no_schema(words):
    assert not words.node(("limits", "zzz"), {})
    assert not words.node(("zzz", "zzz"), {})


def test_required_keys_come_first(words):
    assert words.keys(words.node(("workload",), {}))[0] == "prompts"


@pytest.mark.parametrize(
    ("key", "homes"),
    [
        ("backend", ["at the top level (not indented)"]),
        ("top_k", ["under sampling"]),
        ("draft_length", ["under speculation (method ngram or draft_target)"]),
        ("model", ["under target", "under speculation (method draft_target)"]),
        ("zzz", []),
    ],
)
def test_places_of_a_key(words, key, homes):
    assert list(words.homes(key)) == homes
