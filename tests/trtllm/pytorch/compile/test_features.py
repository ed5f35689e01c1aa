"""Sampling rules, trees, suffixes, penalties: written where the release has them."""

from __future__ import annotations

import pytest

from tests.trtllm.pytorch.compile.recipes import (
    AUTO,
    DFLASH,
    DRAFT_TARGET,
    EAGLE3,
    MTP,
    NEWEST,
    NGRAM,
    NONE,
    PARD,
    USER,
    args,
    compiled,
    config,
    refusal,
    target,
    the_remark,
)

EARLY = ("1.0.0", "1.1.0", "1.2.1")
GUIDED = {"pytorch": {"guided_decoding": "xgrammar"}}
RELAXED = {**MTP, "acceptance": "relaxed", "relaxed_top_k": 5, "relaxed_delta": 0.5}
TREE = {"tree": "dynamic", "tree_top_k": 4}


@pytest.mark.parametrize("temperature", [0.0, 0.8])
@pytest.mark.parametrize("speculation", [EAGLE3, MTP])
def test_1_2_samples_in_one_model_engines_whatever_the_recipe_samples_with(
    speculation, temperature
):
    written = config("1.2.1", speculation, sampling={"temperature": temperature})
    assert written["allow_advanced_sampling"] is True


@pytest.mark.parametrize(
    ("version", "speculation"),
    [
        ("1.2.1", {**EAGLE3, "two_model": True}),
        ("1.2.1", DRAFT_TARGET),
        ("1.2.1", NGRAM),
        ("1.1.0", EAGLE3),
        (NEWEST, EAGLE3),
    ],
)
def test_no_other_engine_is_told_to_sample(version, speculation):
    assert "allow_advanced_sampling" not in config(version, speculation)


@pytest.mark.parametrize("speculation", [EAGLE3, MTP, PARD, DFLASH, DRAFT_TARGET])
def test_rejection_sampling_is_one_of_the_newest_releases(speculation):
    asked = {**speculation, "rejection_sampling": True}
    assert config(NEWEST, asked)["use_rejection_sampling"] is True


@pytest.mark.parametrize("version", EARLY)
def test_early_releases_have_no_rejection_sampling_to_ask_for(version):
    remark = refusal(version, {**EAGLE3, "rejection_sampling": True})
    assert remark.key == ("speculation", "rejection_sampling")
    assert "delete rejection_sampling" in remark.action


@pytest.mark.parametrize(
    ("speculation", "sections", "why"),
    [
        ({**EAGLE3, "suffix_threshold": 4}, {}, "suffix_threshold"),
        ({**EAGLE3, "tree": "dynamic", "tree_top_k": 33}, {}, "at most 32"),
        (RELAXED, {}, "relaxed"),
        (MTP, GUIDED, "guided"),
        (DRAFT_TARGET, GUIDED, "guided"),
    ],
)
def test_what_excludes_rejection_sampling(speculation, sections, why):
    asked = {**speculation, "rejection_sampling": True}
    assert why in refusal(NEWEST, asked, **sections).why


def test_eagle3_has_rejection_sampling_with_guided_decoding_too():
    asked = {**EAGLE3, "rejection_sampling": True, "tree": "dynamic", "tree_top_k": 32}
    assert config(NEWEST, asked, **GUIDED)["use_rejection_sampling"] is True


@pytest.mark.parametrize("speculation", [EAGLE3, MTP])
def test_a_dynamic_tree_verifies_all_its_nodes_unless_told_otherwise(speculation):
    written = config(NEWEST, {**speculation, **TREE})
    assert written["use_dynamic_tree"] is True
    assert written["dynamic_tree_max_topK"] == 4
    assert written["max_draft_len"] == 3
    assert written["max_total_draft_tokens"] == 12


@pytest.mark.parametrize("version", EARLY)
@pytest.mark.parametrize("speculation", [EAGLE3, MTP])
def test_early_releases_draft_no_dynamic_tree(version, speculation):
    remark = refusal(version, {**speculation, **TREE})
    assert remark.action.startswith("delete tree, to draft a chain of 3")
    assert "1.3.0rc22" in remark.action


@pytest.mark.parametrize("version", [*EARLY, NEWEST])
def test_a_fixed_tree_is_refused_everywhere(version):
    remark = refusal(version, {**EAGLE3, "tree": [[0], [1], [0, 0]]})
    assert "eagle_choices" in remark.why
    assert ("tree: dynamic" in remark.action) == (version == NEWEST)


@pytest.mark.parametrize(
    "changes", [{"sliding_window": 4096}, {"family": "deepseek_v3"}]
)
def test_a_dynamic_tree_warns_of_attention_it_is_not_documented_for(changes):
    made = compiled(NEWEST, {**EAGLE3, **TREE}, target(**changes))
    assert the_remark(made, "tree").severity == "warning"
    assert not compiled(NEWEST, {**EAGLE3, **TREE}, target()).remarks
    assert not compiled(NEWEST, EAGLE3, target(**changes)).remarks


@pytest.mark.parametrize("version", EARLY)
@pytest.mark.parametrize("speculation", [EAGLE3, MTP])
def test_early_releases_have_no_suffix_automaton(version, speculation):
    remark = refusal(version, {**speculation, "suffix_threshold": 4})
    assert remark.action == "delete suffix_threshold"


@pytest.mark.parametrize("speculation", [EAGLE3, MTP, PARD])
def test_suffixes_are_a_map_of_their_own(speculation):
    written = config(NEWEST, {**speculation, "suffix_threshold": 4})
    assert written["sa_config"] == {"threshold": 4}


PENALTIES = {"pytorch": {"penalties": True}}


def test_penalties_are_switched_on_where_the_release_can():
    assert config(NEWEST, EAGLE3, **PENALTIES)["enable_penalty"] is True


@pytest.mark.parametrize(
    ("version", "speculation"),
    [("1.2.1", EAGLE3), ("1.3.0rc22", MTP), (NEWEST, AUTO), (NEWEST, USER)],
)
def test_penalties_are_refused_under_speculation_elsewhere(version, speculation):
    assert refusal(version, speculation, **PENALTIES).key == ("pytorch", "penalties")


@pytest.mark.parametrize("version", ["1.0.0", NEWEST])
def test_penalties_need_no_switch_without_speculation(version):
    assert "speculative_config" not in args(version, NONE, **PENALTIES)


def test_thinking_tokens_are_left_to_the_release_if_unset():
    for version in ("1.0.0", "1.2.1", NEWEST):
        keys = {key.lower() for key in config(version, RELAXED)}
        assert "relaxed_topk" in keys
        assert not {key for key in keys if "thinking_phase" in key}
