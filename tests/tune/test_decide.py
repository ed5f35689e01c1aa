"""What the honest answer is: draft, do not draft, no claim, or it depends."""

from __future__ import annotations

import pytest

from tests.tune.made import candidate, costs, trace
from trtspec.errors import UsageError
from trtspec.tune.decide import Evidence, Question, by_category, decide
from trtspec.tune.shown import candidate_result
from trtspec.tune.sweep import predicted_sweep

QUESTION = Question(loads=(1, 2), batches=(1, 2), most_running=2)
CHEAP = costs({b: [1.0, 1.0, 1.1, 1.1, 1.2] for b in (1, 2)})
DEAR = costs({1: [1.0, 1.0, 1.1, 1.1, 1.2], 2: [1.0, 2.5, 4.0, 5.0, 6.0]})


def evidence(patterns, table=CHEAP, name="ngram", **options) -> Evidence:
    traces = [
        trace(pattern, prompt_id=f"p{n}", **options)
        for n, pattern in enumerate(patterns)
    ]
    return Evidence(candidate(name=name), traces, table)


OFTEN = [[4, 3, 2, 1, 0] * 4] * 6
NEVER = [[0] * 20] * 6


def chosen(found: Evidence, question: Question = QUESTION):
    (choice,) = decide([found], question)
    return choice


def test_a_drafter_that_hits_is_used_at_its_full_length():
    choice = chosen(evidence(OFTEN))
    assert choice.draft_length == 4
    assert choice.gain(1) > 3
    result = candidate_result(choice, QUESTION)
    assert [load.word for load in result.loads] == ["faster", "faster"]
    assert result.break_even.batch is None


def test_a_drafter_that_never_hits_is_not_used():
    choice = chosen(evidence(NEVER))
    assert choice.draft_length is None
    assert choice.gain(1) == 1
    result = candidate_result(choice, QUESTION)
    assert [load.length for load in result.loads] == [0, 0]
    assert [load.of_length for load in result.loads] == [1, 1]
    assert {load.word for load in result.loads} == {"no claim"}  # as dear as plain
    assert result.break_even.batch == 1


def test_where_verification_costs_too_much_it_stops():
    choice = chosen(evidence([[1, 0] * 10] * 6, DEAR))
    assert choice.draft_length == {1: 1}
    found = candidate_result(choice, QUESTION).break_even
    assert 1 < found.batch < 2


def test_prompts_that_differ_allow_no_claim():
    mixed = [[4, 3, 2, 1, 0] * 4, *[[0] * 20] * 3]
    slow = costs({b: [1.0, 1.0, 1.1, 1.15, 1.2] for b in (1, 2)})
    result = candidate_result(chosen(evidence(mixed, slow)), QUESTION)
    drafting = [load for load in result.loads if load.length]
    assert drafting
    assert {load.word for load in drafting} == {"no claim"}


def test_one_prompt_allows_no_claim():
    result = candidate_result(chosen(evidence(OFTEN[:1])), QUESTION)
    assert result.loads[0].length == 4
    assert {load.word for load in result.loads} == {"no claim"}
    assert result.loads[0].interval is None


def test_categories_of_their_own_get_their_own_lengths():
    traces = [
        *(
            trace([4, 3, 2, 1, 0] * 4, prompt_id=f"a{n}", category="edit")
            for n in range(3)
        ),
        *(trace([0] * 20, prompt_id=f"b{n}", category="chat") for n in range(3)),
    ]
    found = Evidence(candidate(), traces, CHEAP)
    assert by_category(found, QUESTION) == {
        "edit": {1: 4, 2: 4},
        "chat": {1: 0, 2: 0},
    }


def test_one_category_is_not_split():
    assert by_category(evidence(OFTEN), QUESTION) == {}


def test_the_method_that_gains_more_comes_first():
    weak = evidence([[1, 0] * 10] * 6, name="weak")
    strong = evidence(OFTEN, name="strong")
    assert [c.name for c in decide([weak, strong], QUESTION)] == ["strong", "weak"]


def test_other_lengths_give_other_predictions():
    choice = chosen(evidence(OFTEN))
    shorter = choice.with_lengths({1: 2, 2: 0})
    assert shorter.draft_length == {1: 2}
    assert shorter.gain(1) == pytest.approx(choice.gain(1, 2))
    assert shorter.gain(1) < choice.gain(1)
    assert choice.with_lengths({1: 0, 2: 0}).draft_length is None


def test_an_empty_trace_is_refused():
    with pytest.raises(UsageError, match="trace is empty"):
        decide([evidence([])], QUESTION)


def test_answers_of_one_token_decide_nothing():
    with pytest.raises(UsageError, match="one token only"):
        decide([evidence([[], []])], QUESTION)


def test_a_table_that_ends_too_early_is_refused():
    short = costs({b: [1.0, 1.0, 1.1] for b in (1, 2)})
    with pytest.raises(UsageError, match="there is no cost of"):
        decide([evidence(OFTEN, short)], QUESTION)


def test_a_table_without_the_batch_is_refused():
    with pytest.raises(UsageError, match="there is no cost of 2 requests"):
        decide([evidence(OFTEN, costs({1: [1.0] * 5}))], QUESTION)


def test_the_sweep_is_every_run_once():
    """At concurrency 1 a batch is always full, so it is what a replay takes."""
    alone = Question(loads=(1,), batches=(1,), most_running=2)
    choices = decide([evidence(OFTEN, name="a"), evidence(NEVER, name="b")], alone)
    item = predicted_sweep(choices)
    first, second = choices
    runs = [
        *(first.with_length(1, k) for k in range(5)),
        *(second.with_length(1, k) for k in range(1, 5)),
    ]
    assert item.engine_starts == 2
    assert item.steps == sum(run.steps for run in runs)
    assert item.model_seconds == pytest.approx(sum(run.seconds for run in runs))
