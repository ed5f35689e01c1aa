"""Iteration records are summed with the denominators of each iteration."""

import json

import pytest

from trtspec.errors import RunError
from trtspec.trtllm.pytorch.metrics import from_iterations


def record(number, drafted=0, accepted=0, requests=None, **extra):
    """One record as the server writes it; requests default to one per 4 drafted."""
    steps = -(-drafted // 4) if requests is None else requests
    stats = {
        "numDraftTokens": drafted,
        "numAcceptedTokens": accepted,
        "numRequestsWithDraftTokens": steps,
        "acceptanceLength": (accepted + steps) / steps if steps else 0.0,
        "iterLatencyMS": 0.0,
        "draftOverhead": 0.0,
    }
    return {"iter": number, "specDecodingStats": stats, **extra}


def refusal(records, **options):
    with pytest.raises(RunError) as caught:
        from_iterations(records, **options)
    return caught.value.problems[0]


def test_a_schedule_counts_what_each_iteration_really_drafted():
    """K = 4 at one request, 2 at three, none at nine: 4 + 6 + 0 drafted tokens."""
    records = [
        record(10, drafted=4, accepted=3, requests=1),
        record(11, drafted=6, accepted=3, requests=3),
        record(12, drafted=0, accepted=0, requests=0),
    ]
    found = from_iterations(records)
    assert (found.drafted, found.accepted, found.steps) == (10, 6, 4)
    assert found.acceptance_rate == pytest.approx(0.6)
    assert found.acceptance_length == pytest.approx(2.5)
    assert found.note == ""


@pytest.mark.parametrize("stats", [None, {}, {"numDraftTokens": None}])
def test_null_and_absent_figures_are_no_drafts(stats):
    found = from_iterations([{"iter": 1, "specDecodingStats": stats}])
    assert found.acceptance_rate is None
    assert found.unavailable


def test_why_there_are_no_figures_is_told_apart():
    assert "enable_iter_perf_stats" in from_iterations([]).unavailable
    assert "fills no specDecodingStats" in from_iterations([{"iter": 1}]).unavailable
    nothing = from_iterations([record(1), record(2)])
    assert "nothing was drafted in 2 iterations" in nothing.unavailable


def test_a_record_as_json_text_counts_too():
    assert from_iterations([json.dumps(record(1, 4, 2))]).drafted == 4
    assert "not valid JSON" in refusal(["{"]).what


def test_rows_of_other_ranks_repeat_rank_0_and_count_once():
    rows = [
        record(number, 4, accepted, attentionDpRank=rank)
        for number, accepted in ((1, 3), (2, 1))
        for rank in (0, 1)
    ]
    found = from_iterations(rows, attention_dp=True)
    assert (found.drafted, found.accepted) == (8, 4)
    assert "rank 0" in found.note


def test_without_a_rank_a_repeated_iteration_counts_once_under_attention_dp():
    rows = [record(number, 4, 2) for number in (1, 1, 2, 2)]
    assert from_iterations(rows, attention_dp=True).drafted == 8
    assert from_iterations(rows).drafted == 16


def test_lost_records_are_told():
    found = from_iterations([record(n, 4, 2) for n in (5, 6, 10)])
    assert "records of 3 iterations are missing" in found.note
    complete = from_iterations([record(n, 4, 2) for n in (6, 5, 7)])
    assert complete.note == ""


def test_a_full_queue_may_have_dropped_what_came_first():
    full = from_iterations([record(n, 4, 2) for n in range(501, 1501)])
    assert full.note == "of the last 1000 iterations, all that are kept"
    assert from_iterations([record(n, 4, 2) for n in range(1, 1000)]).note == ""


def test_an_interval_makes_a_sample_and_no_gaps():
    found = from_iterations([record(n, 4, 2) for n in (10, 20, 30)], interval=10)
    assert found.note == "a sample: only every 10th iteration"


@pytest.mark.parametrize(
    ("one", "what"),
    [
        (record(3, 2, 1, requests=3), "2 drafted tokens in 3 requests"),
        (record(3, 2, 1, requests=0), "2 drafted tokens in no request"),
        (record(3, -1), "numDraftTokens is -1"),
        (record(3, 4, 1.5), "numAcceptedTokens is 1.5"),
        (record(3, 4, True), "numAcceptedTokens is True"),
    ],
)
def test_nonsense_is_refused_with_the_record_it_is_in(one, what):
    problem = refusal([record(2, 4, 2), one])
    assert what in problem.what
    assert problem.where.startswith("iteration record 1 (iter 3)")


@pytest.mark.parametrize("drafted", [0, 4])
def test_more_accepted_than_drafted_leaves_out_that_iteration_alone(drafted):
    wrong = record(3, drafted, 5, requests=1 if drafted else 0)
    found = from_iterations([record(2, 4, 2), wrong])
    assert (found.drafted, found.accepted, found.steps) == (4, 2, 1)
    assert "an iteration is left out" in found.note
    assert "whose id is 0" in found.note
    alone = from_iterations([wrong, wrong])
    assert alone.acceptance_rate is None
    assert "2 iterations are left out" in alone.unavailable


def test_a_missing_counter_of_accepted_tokens_is_not_none_accepted():
    one = record(2, 4, 2)
    del one["specDecodingStats"]["numAcceptedTokens"]
    found = from_iterations([record(1, 4, 2), one])
    assert found.acceptance_rate is None
    assert "counts no numAcceptedTokens" in found.unavailable


@pytest.mark.parametrize(
    "one", [7, [1], {"iter": "x"}, {"iter": 1, "specDecodingStats": 4}]
)
def test_what_is_no_record_is_refused(one):
    assert "iteration record 0" in refusal([one]).where
