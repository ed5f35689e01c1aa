"""The family of a file is told by its keys where they tell it, and else asked for."""

from __future__ import annotations

import pytest

from tests.trtllm.migrate.moves import eagle3, move
from trtspec.errors import UsageError
from trtspec.trtllm.migrate.deduce import candidates, contradictions


def fits(spec, **top):
    return candidates({"speculative_config": spec, **top})


@pytest.mark.parametrize(
    ("spec", "families"),
    [
        (eagle3("main"), ("main",)),
        (eagle3("1.2"), ("1.2",)),
        (eagle3("1.0"), ("1.0", "1.1", "1.2")),
        (eagle3("1.0", max_concurrency=4), ("1.1", "1.2")),
        ({"decoding_type": "MTP", "max_draft_len": 3}, ("main",)),
        (
            {"decoding_type": "MTP", "num_nextn_predict_layers": 3},
            ("1.0", "1.1", "1.2"),
        ),
        ({"decoding_type": "NGram", "max_draft_len": 3}, ("main",)),
        (eagle3("main", draft_len_schedule={8: 4, 32: 2}), ("main",)),
        (eagle3("main", draft_len_schedule={1: 4, 9: 2}), ("1.2", "main")),
        ({"decoding_type": "SA", "max_draft_len": 3}, ("main",)),
        (eagle3("1.2", draft_len_schedule={"a": 1, 2: -3}), ("1.2",)),
        (eagle3("1.2", draft_len_schedule={8: 4, 32: 2}), ("1.2", "main")),
        (
            eagle3("main", draft_len_schedule={1: 4, 9: 2}, eagle3_one_model=False),
            ("1.2", "main"),
        ),
        (
            eagle3("1.2", acceptance_rate_threshold=0.3, max_concurrency=2),
            ("1.2", "main"),
        ),
    ],
)
def test_the_families_that_fit_best(spec, families):
    assert fits(spec) == families


def test_keys_beside_speculation_tell_too():
    both = {"decoding_type": "NGram", "max_draft_len": 2, "max_matching_ngram_size": 2}
    assert fits(both, enable_mixed_sampler=True) == ("1.0",)
    assert fits(both, kv_cache_config={"onboard_blocks": True}) == ("1.0", "1.1", "1.2")


def test_an_ambiguous_file_is_asked_about_where_it_matters():
    spec = eagle3("main", draft_len_schedule={1: 4, 9: 2, 33: 0})
    with pytest.raises(UsageError) as caught:
        move(spec, None, "main", max_batch_size=64)
    (problem,) = caught.value.problems
    assert problem.where == "--from"
    assert problem.allowed == "1.2, main"
    assert "from 1.2: {draft_len_schedule: {8: 4, 32: 2}}" in problem.what


def test_an_ambiguous_file_is_not_asked_about_where_it_does_not_matter():
    moved = move(eagle3("1.0"), None, "1.1")
    assert moved.source == "1.1"
    assert not moved.changes


def test_a_source_that_does_not_fit_is_told_and_taken():
    moved = move(eagle3("main"), "1.2", "main")
    assert moved.source == "1.2"
    told = [c.reason for c in moved.changes if c.kind == "warned"]
    assert any("--from 1.2 does not fit" in text for text in told)


SCHEDULED = eagle3(
    "1.2", draft_len_schedule={1: 4, 9: 2, 33: 0}, eagle3_one_model=False
)


@pytest.mark.parametrize(
    ("spec", "source", "right"),
    [
        (SCHEDULED, "main", "1.2"),
        (SCHEDULED, "1.0", "1.2"),
        (eagle3("1.2", draft_len_schedule={1: 4, 9: 2}), "main", "1.2"),
        (eagle3("main", draft_len_schedule={8: 4}), "1.2", "main"),
        (eagle3("1.0", max_concurrency=4), "1.0", "1.1 or 1.2"),
        (eagle3("main", acceptance_rate_threshold=0.3), "1.2", "main"),
    ],
)
def test_a_source_that_contradicts_what_depends_on_it_is_blocked(spec, source, right):
    moved = move(spec, source, "main", max_batch_size=64)
    (change,) = moved.changes
    assert change.kind == "blocked"
    assert f"--from {source} does not fit: " in change.reason
    assert change.reason.endswith(f"Give --from {right}")


def test_a_source_that_is_asked_for_is_taken():
    spec = eagle3("main", draft_len_schedule={1: 4, 9: 2}, eagle3_one_model=False)
    with pytest.raises(UsageError, match=r"--from 1\.2 or --from main"):
        move(spec, None, "main", max_batch_size=64)
    for source, keys in (("1.2", [8, 64]), ("main", [1, 9])):
        moved = move(spec, source, "main", max_batch_size=64)
        assert list(moved.values["speculative_config"]["draft_len_schedule"]) == keys


def test_what_a_family_only_wants_gone_says_little():
    spec = eagle3("main", max_concurrency=4)
    cache = {"sink_token_length": 4}
    assert fits(spec, kv_cache_config=cache) == ("main",)
    mild = contradictions(
        {"kv_cache_config": cache, "speculative_config": spec}, "main"
    )
    assert [one.is_mild for one in mild] == [True]


def test_a_file_that_is_blocked_for_different_reasons_is_asked_about():
    spec = eagle3("1.2", draft_len_schedule={8: 3, 32: 4})
    with pytest.raises(UsageError) as caught:
        move(spec, None, "main", max_batch_size=64)
    assert caught.value.problems[0].where == "--from"


def test_a_file_of_its_family_has_no_contradictions():
    values = {"speculative_config": eagle3("main"), "max_batch_size": 8}
    assert contradictions(values, "main") == ()
    assert contradictions(values, "1.0")
