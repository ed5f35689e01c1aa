"""Published models, by their public configurations: sizes as their makers say them."""

import pytest

from tests.models.public import TARGETS, write_target
from trtspec.models.inspection import inspect

LARGEST = "deepseek-ai/DeepSeek-R1"
"""Has the configuration of DeepSeek-V3, and ninety thousand tensors."""
EVERY = pytest.mark.parametrize("name", [name for name in TARGETS if name != LARGEST])


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Each target as it is inspected, once, and the model that was found."""
    known = {}

    def look(name):
        if name not in known:
            folder = tmp_path_factory.mktemp("target")
            directory = write_target(folder, TARGETS[name])
            found = inspect(directory)
            known[name] = found.model, found
        return known[name]

    return look


def fact(inspection, key):
    return next(found.value for found in inspection.facts if found.key == key)


def test_there_are_at_least_twenty_five_and_each_names_its_sources():
    assert len(TARGETS) >= 25
    for record in TARGETS.values():
        assert record["source"].startswith("https://")
        assert record["parameters"]["source"].startswith("https://")


@EVERY
def test_it_is_a_causal_model_without_a_problem(seen, name):
    info, inspection = seen(name)
    assert (inspection.kind, inspection.problems) == ("model", ())
    assert info.architecture == TARGETS[name]["config"]["architectures"][0]


@EVERY
def test_it_has_as_many_parameters_as_its_makers_say(seen, name):
    info, inspection = seen(name)
    said, count = TARGETS[name]["parameters"], fact(inspection, "parameters")
    if TARGETS[name].get("without_embeddings"):
        count -= 2 * info.vocabulary_rows * info.hidden_size
    assert abs(count - said["value"]) <= said["within"], said["said"]


@EVERY
def test_one_token_takes_the_bytes_that_its_attention_caches(seen, name):
    _, inspection = seen(name)
    bytes_per_token = fact(inspection, "kv_bytes_per_token")
    expected = TARGETS[name]["kv_bytes_per_token"]
    assert bytes_per_token == {"bfloat16": expected, "fp8": expected // 2}


@EVERY
def test_context_and_vocabulary_are_those_of_the_configuration(seen, name):
    info, _ = seen(name)
    record = TARGETS[name]
    assert info.context_length == record["context_length"]
    assert info.vocabulary_rows == record["vocabulary_rows"]


@EVERY
def test_quantization_windows_and_next_token_heads_are_told(seen, name):
    info, _ = seen(name)
    record = TARGETS[name]
    for fact_name, default in (
        ("quantization", "none"),
        ("published_quantization", "none"),
        ("published_kv_cache", None),
        ("sliding_window", None),
        ("next_token_heads", 0),
    ):
        assert getattr(info, fact_name) == record.get(fact_name, default), fact_name
    assert info.stored_next_token_heads == info.next_token_heads


@pytest.mark.parametrize("name", [n for n in TARGETS if "weight_bytes" in TARGETS[n]])
def test_packed_weights_take_as_much_as_their_makers_say(seen, name):
    info, _ = seen(name)
    said = TARGETS[name]["weight_bytes"]
    assert abs(info.weight_bytes - said["value"]) <= said["within"], said["said"]


def test_r1_is_v3_by_its_configuration():
    v3 = TARGETS["deepseek-ai/DeepSeek-V3"]
    kept = ("config", "parameters", "kv_bytes_per_token", "context_length")
    assert all(TARGETS[LARGEST][key] == v3[key] for key in kept)
