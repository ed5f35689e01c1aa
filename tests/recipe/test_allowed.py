"""The schema in words: keys of sections, allowed values, places of keys."""

import pytest

from trtspec.recipe.allowed import SchemaWords, listed

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
        (("speculation", "allow_lossy"), "true or false"),
        (("speculation", "acceptance"), "exact"),
        (
            ("speculation", "draft_length"),
            "tokens proposed per step: one number, or a map such as {8: 4, 32: 2}, "
            "read as: up to 8 running requests 4, up to 32 2, above none",
        ),
        (("engine", "max_draft_length"), "a whole number from 1 to 256"),
        (("engine", "kv_cache"), "auto, fp8, int8"),
        (
            ("engine", "build_flags"),
            "a map: further flags of trtllm-build without the dashes, such as "
            "{multiple_profiles: enable}; checked against the version's own list",
        ),
        (
            ("engine",),
            "a map with the keys max_draft_length, max_num_tokens, kv_cache, "
            "gemm_plugin, calibration_dataset, calibration_samples, build_flags",
        ),
        (("engine", "zzz"), ""),
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
            "a map with the keys method, draft_length, allow_lossy, acceptance, "
            "max_matching_ngram",
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
    assert words.describe(node).endswith(
        "redrafter, lookahead, pard, dflash, user, auto"
    )
    assert words.node(("speculation",), {"speculation": {"method": ["x"]}}) == node


def test_unknown_path_has_no_schema(words):
    assert not words.node(("limits", "zzz"), {})
    assert not words.node(("zzz", "zzz"), {})


def test_required_keys_come_first(words):
    assert words.keys(words.node(("workload",), {}))[0] == "prompts"


def test_keys_that_a_method_may_lack_are_described_by_the_method(words):
    eagle = {"speculation": {"method": "eagle", "posterior_threshold": 0.1}}
    node = words.node(("speculation", "posterior_threshold"), eagle)
    assert words.describe(node) == "a number from 0 to below 1"
    assert not words.node(("speculation", "posterior_threshold"), RECIPE)


@pytest.mark.parametrize(
    ("names", "text"),
    [([], ""), (["a"], "a"), (["a", "b"], "a or b"), (["a", "b", "c"], "a, b or c")],
)
def test_alternatives_are_listed(names, text):
    assert listed(names) == text


def test_map_of_a_section_that_takes_any_key(words):
    assert words.free_map(words.node(("engine",), {})) == "build_flags"
    assert not words.free_map(words.node(("limits",), {}))
    assert not words.free_map(words.root)


@pytest.mark.parametrize(
    ("key", "homes"),
    [
        ("backend", ["at the top level (not indented)"]),
        ("top_k", ["under sampling"]),
        (
            "draft_length",
            [
                "under speculation (method ngram, suffix, draft_target, eagle3, mtp, "
                "pard, dflash or user)"
            ],
        ),
        (
            "model",
            [
                "under target",
                "under speculation (method draft_target, medusa, eagle, eagle3, mtp, "
                "redrafter, pard or dflash)",
            ],
        ),
        ("kv_cache", ["under engine", "under pytorch"]),
        ("tree", ["under speculation (method medusa, eagle, eagle3 or mtp)"]),
        ("zzz", []),
    ],
)
def test_places_of_a_key(words, key, homes):
    assert list(words.homes(key)) == homes
