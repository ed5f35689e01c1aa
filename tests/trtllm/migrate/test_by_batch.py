"""Who follows the batch size, who does not, and what is said where that differs."""

from __future__ import annotations

import pytest

from tests.trtllm.migrate.moves import about, eagle3, move, spec_of

NGRAM = {"decoding_type": "NGram", "max_draft_len": 3, "max_matching_ngram_size": 3}
MTP = {
    "decoding_type": "MTP",
    "num_nextn_predict_layers": 3,
    "mtp_eagle_one_model": False,
}
USER = {"decoding_type": "UserProvided", "max_draft_len": 3}
DSPARK = {"decoding_type": "DSpark", "max_draft_len": 3}
TREE = {"use_dynamic_tree": True, "dynamic_tree_max_topK": 2}
SCHEDULE = {"draft_len_schedule": {1: 3, 9: 1}}


@pytest.mark.parametrize("spec", [NGRAM, MTP, USER])
@pytest.mark.parametrize("schedule", [{1: 3, 9: 1}, {1: 3, 9: 0}, {1: 3, 99: 1}])
def test_a_schedule_that_1_2_follows_is_left_as_it_is(spec, schedule):
    spec = {**spec, "draft_len_schedule": schedule, "max_concurrency": 16}
    moved = move(spec, "1.2", "1.2", max_batch_size=32)
    assert spec_of(moved) == spec
    assert not moved.alters


def test_prompt_lookup_keeps_its_limit_towards_main_and_loses_its_schedule():
    limited = {**NGRAM, "max_concurrency": 8}
    assert spec_of(move(limited, "1.2", "main", max_batch_size=32)) == limited
    moved = move({**NGRAM, **SCHEDULE}, "1.2", "main", max_batch_size=32)
    (change,) = about(moved, "draft_len_schedule", "blocked")
    assert "max_draft_len 3 alone, or with max_concurrency 8" in change.reason


def test_two_model_mtp_keeps_its_schedule_towards_main():
    result = spec_of(move({**MTP, **SCHEDULE}, "1.2", "main", max_batch_size=32))
    assert result["draft_len_schedule"] == {8: 3, 32: 1}


def test_two_model_mtp_has_no_schedule_on_1_1_and_the_advice_is_in_its_own_words():
    moved = move({**MTP, **SCHEDULE}, "1.2", "1.1", max_batch_size=32)
    (change,) = about(moved, "draft_len_schedule", "blocked")
    assert "num_nextn_predict_layers 3 alone, or with max_conc" in change.reason
    advised = {**MTP, "max_concurrency": 8}
    assert spec_of(move(advised, "1.2", "1.1", max_batch_size=32)) == advised


@pytest.mark.parametrize("family", ["1.1", "1.2"])
def test_a_drafter_of_the_users_own_is_driven(family):
    spec = {**USER, "max_concurrency": 8}
    moved = move(spec, family, family, max_batch_size=32)
    assert spec_of(moved) == spec
    assert not about(moved, "max_concurrency")


@pytest.mark.parametrize(
    "more", [{"max_concurrency": 8}, {"draft_len_schedule": {8: 3}}]
)
@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (DSPARK, "DSpark drafts the same for every batch"),
        (
            eagle3("main", **TREE, max_draft_len=3),
            "a dynamic tree is the same for every batch; delete use_dynamic_tree",
        ),
    ],
)
def test_what_main_ignores_is_told_once_and_left_out(spec, why, more):
    moved = move({**spec, **more}, "main", "main", max_batch_size=32)
    assert spec_of(moved) == spec
    (change,) = [c for key in more for c in about(moved, key)]
    assert change.kind == "removed"
    assert why in change.reason


@pytest.mark.parametrize(
    "more", [{"max_concurrency": 8}, {"draft_len_schedule": {8: 3}}]
)
def test_one_head_per_position_follows_the_batch_until_a_pull_request_ends_it(more):
    spec = {"decoding_type": "MTP", "max_draft_len": 3, "use_mtp_vanilla": True, **more}
    moved = move(spec, "main", "main", max_batch_size=32)
    assert spec_of(moved) == spec
    told = [c.reason for key in more for c in about(moved, key, "warned")]
    assert any("open pull request (16888)" in text for text in told)


def test_a_limit_that_no_batch_reaches_is_not_said_to_be_folded():
    spec = eagle3("1.2", eagle3_one_model=False, draft_len_schedule={1: 4, 9: 2})
    moved = move({**spec, "max_concurrency": 64}, "1.2", "main", max_batch_size=32)
    (change,) = about(moved, "max_concurrency", "removed")
    assert change.reason == "never reached: max_batch_size is 32"


ZEROS = [{8: 4, 16: 0}, {8: 4, 16: 0, 32: 2}, {4: 4, 8: 0, 16: 0, 99: 3}]


@pytest.mark.parametrize("schedule", ZEROS, ids=str)
def test_a_zero_is_off_to_main_and_stays_with_a_warning(schedule):
    spec = eagle3("main", draft_len_schedule=schedule)
    moved = move(spec, "main", "main", max_batch_size=32)
    assert spec_of(moved) == spec
    assert not moved.alters
    (warning,) = about(moved, "draft_len_schedule", "warned")
    assert "goes stale" in warning.reason


@pytest.mark.parametrize(
    ("schedule", "idle", "safe"),
    [
        (ZEROS[0], "drafted above 8 requests", "{8: 4, 32: 1}"),
        (ZEROS[1], "drafted for 9 to 16 requests", "{8: 4, 16: 1, 32: 2}"),
        (ZEROS[2], "drafted for 5 to 16 requests", "{4: 4, 16: 1, 32: 3}"),
        (
            {1: 4, 2: 0, 4: 2},
            "drafted for 2 requests and above 4 requests",
            "{1: 4, 2: 1, 4: 2, 32: 1}",
        ),
    ],
    ids=str,
)
def test_it_is_said_when_nothing_is_drafted_and_what_never_pauses(schedule, idle, safe):
    moved = move(
        eagle3("main", draft_len_schedule=schedule), "main", "main", max_batch_size=32
    )
    told = [change.reason for change in about(moved, "draft_len_schedule", "warned")]
    assert any(idle in text and text.endswith(safe) for text in told)


def test_a_zero_between_two_steps_is_carried_into_the_other_reading():
    early = eagle3(
        "1.2", eagle3_one_model=False, draft_len_schedule={1: 4, 9: 0, 17: 2}
    )
    moved = move(early, "1.2", "main", max_batch_size=32)
    assert spec_of(moved)["draft_len_schedule"] == {8: 4, 16: 0, 32: 2}
    late = eagle3("main", draft_len_schedule={8: 4, 16: 0, 24: 2})
    result = spec_of(move(late, "main", "1.2", max_batch_size=32))
    assert result["draft_len_schedule"] == {1: 4, 9: 0, 17: 2, 25: 0}
    assert spec_of(move(early, "1.2", "1.2", max_batch_size=32)) == early
