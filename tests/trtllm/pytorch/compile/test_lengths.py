"""What is refused, and what is said, of draft lengths by batch."""

from __future__ import annotations

import pytest

from tests.trtllm.pytorch.compile.recipes import (
    DFLASH,
    DRAFT_TARGET,
    EAGLE3,
    LIMITS,
    MTP,
    NEWEST,
    NGRAM,
    PARD,
    SUFFIX,
    USER,
    args,
    compiled,
    config,
    refusal,
    the_remark,
)

MAP = {8: 4, 32: 2}
RULE = "draft-length"


@pytest.mark.parametrize("speculation", [EAGLE3, DRAFT_TARGET, MTP, NGRAM])
def test_1_0_has_one_number_for_every_batch(speculation):
    remark = refusal("1.0.0", {**speculation, "draft_length": MAP})
    assert remark.rule == RULE
    assert remark.key == ("speculation", "draft_length")
    assert "{8: 4, 32: 2}" in remark.what
    assert remark.action == "write draft_length: 4"


@pytest.mark.parametrize("lengths", [MAP, {8: 4}])
def test_a_refused_map_does_not_make_two_models_of_eagle3(lengths):
    made = compiled("1.0.0", {**EAGLE3, "draft_length": lengths})
    assert "eagle3_one_model" not in made.args.to_dict()["speculative_config"]


@pytest.mark.parametrize("speculation", [EAGLE3, DRAFT_TARGET, NGRAM])
def test_1_1_offers_a_cut_off_in_place_of_a_map(speculation):
    remark = refusal("1.1.0", {**speculation, "draft_length": MAP})
    assert "max_concurrency alone" in remark.why
    assert "{32: 4}" in remark.action
    offered = {**speculation, "draft_length": {32: 4}}
    assert config("1.1.0", offered)["max_concurrency"] == 32


@pytest.mark.parametrize("version", ["1.1.0", "1.2.1"])
def test_one_model_mtp_cannot_leave_drafting_out(version):
    for lengths in (MAP, {8: 4}):
        remark = refusal(version, {**MTP, "draft_length": lengths})
        assert "one-model engine" in remark.why
        assert remark.action == "write draft_length: 4"


@pytest.mark.parametrize("version", ["1.1.0", "1.2.1"])
@pytest.mark.parametrize("lengths", [MAP, {8: 4}])
def test_eagle3_that_must_be_one_model_is_refused_a_map(version, lengths):
    asked = {**EAGLE3, "draft_length": lengths, "two_model": False}
    assert "delete two_model" in refusal(version, asked).action


@pytest.mark.parametrize("two_model", [None, True])
def test_eagle3_becomes_two_models_for_a_map_and_says_so(two_model):
    asked = {**EAGLE3, "draft_length": MAP, "two_model": two_model}
    made = compiled("1.2.1", asked)
    remark = the_remark(made, RULE)
    assert remark.severity == "note"
    assert "without the overlap scheduler" in remark.what
    written = made.args.to_dict()
    assert written["speculative_config"]["eagle3_one_model"] is False
    assert written["disable_overlap_scheduler"] is True
    why = dict(made.args.leaves())[("speculative_config", "eagle3_one_model")].why
    assert ("batch" in why) == (two_model is None)


def test_eagle3_keeps_the_overlap_scheduler_with_a_cut_off():
    written = args("1.2.1", {**EAGLE3, "draft_length": {8: 4}})
    assert "disable_overlap_scheduler" not in written
    assert written["speculative_config"]["eagle3_one_model"] is False


@pytest.mark.parametrize(
    "speculation", [EAGLE3, MTP, PARD, DFLASH, DRAFT_TARGET, SUFFIX]
)
def test_the_newest_releases_change_the_length_of_one_model_engines(speculation):
    asked = {**speculation, "draft_length": MAP}
    assert config(NEWEST, asked)["draft_len_schedule"] == MAP


def test_the_newest_releases_refuse_a_map_for_ngram():
    remark = refusal(NEWEST, {**NGRAM, "draft_length": MAP})
    assert "no draft length by batch" in remark.why
    assert "{32: 4}" in remark.action


def test_the_newest_releases_warn_that_vanilla_mtp_may_lose_its_map():
    lengths = {8: 4, 64: 1}
    made = compiled(NEWEST, {**MTP, "vanilla": True, "draft_length": lengths})
    remark = the_remark(made, RULE)
    assert remark.severity == "warning"
    assert "still open" in remark.why
    written = made.args.to_dict()["speculative_config"]
    assert written["draft_len_schedule"] == lengths
    plain = compiled(NEWEST, {**MTP, "draft_length": lengths})
    assert not plain.remarks


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0", "1.2.1", NEWEST])
def test_a_drafter_of_the_users_own_has_one_length(version):
    assert refusal(version, {**USER, "draft_length": MAP}).rule == RULE


def test_a_map_that_drafts_more_for_larger_batches_is_refused_with_two_ways_on():
    for version in ("1.2.1", NEWEST):
        remark = refusal(version, {**EAGLE3, "draft_length": {8: 2, 32: 4}})
        assert remark.action == "write {8: 4, 32: 4}, or {8: 2, 32: 2}"


@pytest.mark.parametrize("lengths", [MAP, {8: 4}])
def test_the_newest_releases_warn_where_nothing_is_drafted(lengths):
    made = compiled(NEWEST, {**EAGLE3, "draft_length": lengths})
    remark = the_remark(made, RULE)
    assert remark.severity == "warning"
    assert "16888" in remark.why
    assert "64: 1}" in remark.action
    safe = {**lengths, 64: 1}
    again = compiled(NEWEST, {**EAGLE3, "draft_length": safe})
    assert not again.remarks


@pytest.mark.parametrize("version", ["1.2.1", NEWEST])
def test_never_a_cut_off_beside_a_schedule(version):
    for lengths in (MAP, {8: 4}):
        written = config(version, {**EAGLE3, "draft_length": lengths})
        assert not {"max_concurrency", "draft_len_schedule"} <= set(written)


def test_entries_that_no_batch_reaches_are_left_out_and_named():
    limits = {**LIMITS, "max_batch_size": 16}
    asked = {**EAGLE3, "draft_length": {8: 4, 32: 2, 64: 1}}
    made = compiled(NEWEST, asked, limits=limits)
    remark = the_remark(made, RULE)
    assert "{8: 4, 32: 2, 64: 1} is read as {8: 4, 32: 2}" in remark.what
    assert "16 requests" in remark.why
    few = compiled("1.0.0", asked, limits={**LIMITS, "max_batch_size": 8})
    assert the_remark(few, RULE).what.endswith("is read as 4")
    early = config("1.2.1", asked, limits=limits)
    assert early["draft_len_schedule"] == {1: 4, 9: 2}


@pytest.mark.parametrize("version", ["1.0.0", "1.1.0", "1.2.1", NEWEST])
def test_a_map_that_covers_every_batch_alike_is_one_number(version):
    written = config(version, {**EAGLE3, "draft_length": {64: 3}})
    assert written["max_draft_len"] == 3
    assert not {"max_concurrency", "draft_len_schedule", "eagle3_one_model"} & set(
        written
    )


def test_attention_dp_counts_the_batch_of_one_gpu():
    lengths = {8: 4, 64: 2}
    made = compiled(
        NEWEST, {**EAGLE3, "draft_length": lengths}, pytorch={"attention_dp": True}
    )
    assert "one GPU" in the_remark(made, RULE).what
