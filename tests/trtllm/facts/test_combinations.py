"""The table of combinations: each cell reachable, with a source and its word."""

import re

import pytest
import yaml
from packaging.version import Version

from trtspec.check.catalogue import entries as rules
from trtspec.methods.catalogue import METHODS
from trtspec.recipe.pytorch import PyTorchOptions
from trtspec.trtllm.facts.combinations import (
    Case,
    all_combinations,
    combinations,
    features,
    state_of,
)

VERSIONS = (
    *("0.17.0", "0.20.0", "0.21.0", "1.0.0", "1.1.0", "1.2.0rc2", "1.2.0rc8", "1.2.1"),
    *("1.3.0rc9", "1.3.0rc19", "1.3.0rc22", "1.3.0rc27", "1.4.0rc4"),
)
SHAPES = {"pytorch": ("one model", "two models", "outside"), "tensorrt": ("",)}


def cases_of(entry):
    for version in VERSIONS:
        for method in entry.methods or METHODS:
            for shape in entry.shapes or SHAPES[entry.backend]:
                yield Case(
                    entry.backend,
                    Version(version),
                    method,
                    shape,
                    bool(entry.tree),
                    {entry.also} - {""},
                )


def value_of(entry):
    if entry.values:
        return entry.values[0]
    return entry.least if entry.least is not None else entry.most


@pytest.mark.parametrize("entry", all_combinations(), ids=lambda e: e.feature)
def test_each_entry_is_found_for_some_method_and_version(entry):
    value = value_of(entry)
    assert any(
        entry in combinations(case, entry.feature, value) for case in cases_of(entry)
    )


@pytest.mark.parametrize("entry", all_combinations(), ids=lambda e: e.feature)
def test_each_entry_names_what_exists_and_says_what_is_to_be_done(entry):
    assert entry.backend in features()[entry.feature].backends
    assert set(entry.methods) <= set(METHODS)
    assert entry.also in ("", "zero_rung", *features())
    assert not entry.told_by or entry.told_by in rules()
    if entry.state == "broken":
        assert entry.fixed_in
    assert not entry.wrong_text or entry.state == "broken"
    if entry.state != "works":
        assert entry.says
        assert entry.instead or entry.backend == "tensorrt"


def test_each_snippet_is_a_section_that_a_recipe_can_have():
    snippets = [entry.snippet for entry in all_combinations() if entry.snippet]
    assert snippets
    for snippet in snippets:
        ((section, keys),) = yaml.safe_load(snippet).items()
        assert section == "pytorch"
        assert PyTorchOptions.model_validate(keys)


def test_each_source_is_a_path_or_an_address_or_names_what_was_read():
    for entry in all_combinations():
        assert re.search(r"https://|/|README|feature matrices", entry.source), entry


def test_what_is_reported_as_wrong_text_is_marked_and_cannot_be_ignored():
    words = re.compile(r"bad text|outside the grammar|garbage|wrong (text|output)")
    for entry in all_combinations():
        if entry.state == "broken":
            assert bool(words.search(entry.says)) == entry.wrong_text, entry.says
    assert any(entry.wrong_text for entry in all_combinations())
    assert rules()["combination-wrong"].ignorable_severities == ()
    assert rules()["combination-broken"].ignorable_severities == ("blocking",)


def test_every_feature_is_the_subject_of_an_entry():
    assert {entry.feature for entry in all_combinations()} == set(features())


def served(version, method, shape="one model", tree=False):
    return Case("pytorch", Version(version), method, shape, tree)


@pytest.mark.parametrize(
    ("case", "feature", "state"),
    [
        (served("1.2.0rc2", "ngram", "outside"), "pipeline_parallel", "refused"),
        (served("1.0.0", "draft_target", "two models"), "pipeline_parallel", "refused"),
        (served("1.0.0", "mtp"), "pipeline_parallel", "not established"),
        (served("1.4.0rc4", "suffix"), "pipeline_parallel", "refused"),
        (served("1.0.0", "eagle3"), "disaggregated", "refused"),
        (served("1.1.0", "eagle3"), "disaggregated", "not established"),
        (served("1.2.1", "eagle3"), "disaggregated", "works"),
        (served("1.0.0", "eagle3", "two models"), "kv_reuse", "ignored"),
        (served("1.0.0", "mtp"), "chunked_prefill", "untested"),
        (served("1.2.1", "mtp"), "chunked_prefill", "works"),
        (served("1.2.1", "ngram", "outside"), "chunked_prefill", "not established"),
        (served("1.4.0rc4", "ngram", "outside"), "chunked_prefill", "works"),
        (served("1.4.0rc4", "ngram", "outside"), "overlap_scheduler", "ignored"),
        (served("1.3.0rc9", "ngram", "outside"), "lora", "broken"),
        (served("1.3.0rc10", "ngram", "outside"), "lora", "untested"),
        (served("1.2.1", "eagle3"), "lora", "untested"),
        (served("1.1.0", "eagle3"), "lora", "not established"),
        (served("1.4.0rc4", "eagle3", tree=True), "guided_decoding", "broken"),
        (served("1.3.0rc22", "eagle3", tree=True), "guided_decoding", "works"),
        (served("1.3.0rc22", "eagle3"), "generation_logits", "broken"),
        (served("1.4.0rc1", "eagle3"), "generation_logits", "refused"),
        (served("1.5.0", "eagle3"), "cuda_graphs", "not established"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_state_of_a_cell(case, feature, state):
    assert state_of(case, feature) == state


@pytest.mark.parametrize(
    ("version", "capability", "state"),
    [
        ("1.2.0rc8", 120, "broken"),
        ("1.2.0rc8", 121, "broken"),
        ("1.2.0rc8", 90, "works"),
        ("1.2.1", 120, "untested"),
        ("1.3.0rc9", 120, "broken"),
        ("1.3.0rc10", 120, "untested"),
        ("1.4.0rc4", 75, "untested"),
        ("1.4.0rc4", 130, "not established"),
        ("1.4.0rc4", None, "not established"),
    ],
)
def test_state_goes_by_the_compute_capability(version, capability, state):
    case = served(version, "eagle3")
    assert state_of(case, "compute_capability", capability) == state


def test_an_entry_about_two_features_stands_beside_the_one_about_one():
    case = Case(
        "pytorch", Version("1.2.0rc8"), "ngram", "outside", also={"cuda_graphs"}
    )
    states = [entry.state for entry in combinations(case, "lora")]
    assert states == ["broken", "refused"]
