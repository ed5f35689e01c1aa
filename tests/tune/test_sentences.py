"""Every sentence of a tuning once, from documents that are made by hand."""

from __future__ import annotations

import pytest

from tests.tune.made_result import (
    BILL,
    EXHAUSTIVE,
    LOADS,
    candidate,
    confirmed,
    load,
    measured,
    no_drafts,
    result,
)
from trtspec.tune.result import BreakEvenBatch, Disagreement
from trtspec.tune.sentences import (
    bench_lines,
    bill_lines,
    break_even_words,
    category_lines,
    choice_words,
    disagreement_words,
    draft_words,
    headline,
    length_words,
    limit_lines,
    listed,
    notes,
    price_lines,
    ratio,
    regret_lines,
    said_of_loads,
)


def test_a_ratio_has_its_interval():
    assert ratio(1.4815, (1.3, 1.666)) == "1.48 [1.30, 1.67]"
    assert ratio(1.4815, None) == "1.48"


@pytest.mark.parametrize(
    ("words", "said"), [([1], "1"), ([1, 4], "1 and 4"), ([1, 4, 8], "1, 4 and 8")]
)
def test_words_are_listed(words, said):
    assert listed(words) == said


def test_the_headline_says_choice_and_verdicts():
    assert headline(result()) == [
        "toy-ngram: draft_length: {1: 3, 4: 2}",
        "predicted: faster at concurrency 1 and 4; nothing is drafted at concurrency "
        "8, where the best draft length would give 0.88 [0.79, 0.97] times plain "
        "decoding",
    ]


def test_one_length_needs_no_map():
    assert choice_words(candidate(draft_length=3)) == "draft_length: 3"


def test_a_tree_keeps_the_setting_of_its_recipe():
    assert choice_words(candidate(cut_anywhere=False)) == "the recipe's own setting"


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (None, "Do not speculate on this workload."),
        (1, "Draft 1 token per step."),
        (4, "Draft 4 tokens per step."),
        (
            {1: 3, 4: 2},
            "Draft 3 tokens per step up to 1 running request, 2 up to 4, none above.",
        ),
        ({8: 1}, "Draft 1 token per step up to 8 running requests, none above."),
    ],
)
def test_the_choice_in_words(chosen, said):
    assert draft_words(candidate(draft_length=chosen)) == said


def test_a_tree_is_drafted_as_its_recipe_has_it():
    own = candidate(cut_anywhere=False, draft_length=4)
    assert draft_words(own) == "Draft as the recipe has it."


def test_a_tree_that_was_chosen_is_named_by_its_size():
    own = candidate(cut_anywhere=False, draft_length=2, tree=((0,), (0, 0)))
    assert draft_words(own) == "Draft a tree of 2 nodes per step."
    assert choice_words(own) == "tree of 2 nodes"


def test_words_that_differ_are_told_apart():
    loads = (load(1), load(4, 2, 1.02))
    assert said_of_loads(candidate(loads=loads)) == (
        "predicted: faster at concurrency 1, no claim at concurrency 4"
    )


def test_a_measurement_is_called_one():
    loads = (load(1, measured=measured(1.01, "no difference")),)
    said = said_of_loads(candidate(loads=loads))
    assert said == "measured: no difference at concurrency 1"


def test_not_to_speculate_is_said_with_what_it_would_lose():
    first, second = headline(result(no_drafts()))
    assert first == "toy-ngram: do not speculate on this workload"
    assert second == (
        "predicted: nothing is drafted at concurrency 1 and 4, where the best draft "
        "length would give 0.80 [0.72, 0.88] and 0.70 [0.63, 0.77] times plain decoding"
    )


def test_what_it_would_lose_is_the_measured_figure_if_there_is_one():
    found = no_drafts().model_copy(
        update={"loads": (load(1, 0, 0.9, measured=measured(0.75, "slower")),)}
    )
    assert said_of_loads(found) == (
        "measured: nothing is drafted at concurrency 1, where the best draft length "
        "would give 0.75 [0.71, 0.79] times plain decoding"
    )


def test_a_load_without_drafts_names_the_length_that_its_figures_are_of():
    assert [length_words(one) for one in LOADS] == ["3", "2", "none (best: 1)"]


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ((6.2, 5.1, 7.4), "break-even at 6.2 running requests [5.1, 7.4]"),
        ((6.2, 5.1, None), "break-even at 6.2 running requests [5.1, above 8]"),
        ((6.2, None, None), "break-even at 6.2 running requests"),
        (
            (None, None, None),
            "drafting gains up to 8 running requests, the most looked at",
        ),
        (
            (None, 6.0, None),
            "drafting gains up to 8 running requests, the most looked at; the "
            "interval's lower end falls to 1 at 6.0",
        ),
        (
            (None, 1.0, None),
            "drafting gains up to 8 running requests, the most looked at; the "
            "interval's lower end at no batch size",
        ),
        ((1.0, 1.0, 1.0), "drafting gains at no batch size"),
        (
            (1.0, 1.0, 2.5),
            "drafting gains at no batch size; the interval's upper end falls to 1 at "
            "2.5",
        ),
        (
            (1.0, 1.0, None),
            "drafting gains at no batch size; the interval's upper end falls to 1 "
            "above 8",
        ),
    ],
)
def test_the_break_even_with_what_is_known_of_its_ends(found, said):
    batch, low, high = found
    of = candidate(break_even=BreakEvenBatch(batch=batch, low=low, high=high))
    assert break_even_words(of) == f"predicted: {said}"


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        (None, []),
        (0.05, ["TPOT up to 0.05 s (predicted): concurrency 1 and 4"]),
        (0.001, ["TPOT up to 0.001 s (predicted): no load"]),
    ],
)
def test_which_loads_keep_a_limit(limit, said):
    assert limit_lines(result(tpot_limit=limit)) == said


def test_a_price_per_hour_becomes_one_per_million_tokens():
    assert price_lines(result()) == []
    assert price_lines(result(hourly=3.6)) == [
        "a million output tokens at 3.6 an hour (predicted): 10.53 at concurrency 1 "
        "(plain decoding 20.00); 3.12 at concurrency 4 (plain decoding 5.00); 2.50 at "
        "concurrency 8"
    ]


def test_what_has_to_be_said_of_the_costs_comes_last():
    found = result(notes=("float16 is priced as bfloat16",))
    assert notes(found)[-1] == "note: float16 is priced as bfloat16"


def test_categories_are_told_if_they_differ():
    same = {"chat": {1: 2, 4: 2}, "code": {1: 2, 4: 2}}
    assert category_lines(candidate(by_category=same)) == []
    differ = {"code": {1: 4, 4: 2}, "chat": {1: 0, 4: 0}}
    assert category_lines(candidate(by_category=differ)) == [
        "each category alone, by running requests: chat {1: 0, 4: 0}; code {1: 4, 4: 2}"
    ]


def test_without_a_bench_that_is_said():
    assert bench_lines(result()) == [
        "not measured: --confirm compares the choice with plain decoding"
    ]


def test_what_the_bench_changed_and_where_it_disagrees():
    assert bench_lines(confirmed()) == [
        "changed by the bench: at 8 running: plain decoding in place of the predicted "
        "choice",
        "prediction and bench disagree at concurrency 4, tuned: 1.60 predicted, "
        "1.30 [1.23, 1.37] measured",
        "regret at concurrency 1: none",
        "regret at concurrency 4: 1.3% below the best draft length",
    ]


def test_a_disagreement_without_an_interval_is_two_figures():
    found = Disagreement(
        concurrency=1, arm="tuned", predicted=1.5, measured=measured(1.2, interval=None)
    )
    assert disagreement_words(found).endswith("1.50 predicted, 1.20 measured")


def test_a_choice_that_is_the_best_has_no_regret():
    assert regret_lines({}) == []
    assert regret_lines(dict(EXHAUSTIVE.regret))[0] == "regret at concurrency 1: none"


def test_the_bill_has_every_part_and_the_sweep():
    assert bill_lines(result()) == [
        "traces: 1 engine start, 120 steps, 6.0 s in the model",
        "costs: 1 engine start, 90 steps, 4.0 s in the model",
        "a sweep of all lengths, once: 125.0 s (predicted); traces and costs took "
        "8.0% of that",
    ]
    assert "(measured)" in bill_lines(confirmed())[-1]


def test_without_a_sweep_there_is_no_share():
    nothing = BILL.model_copy(
        update={"sweep": BILL.sweep.model_copy(update={"model_seconds": 0.0})}
    )
    assert bill_lines(result(bill=nothing))[-1] == (
        "a sweep of all lengths, once: 0.0 s (predicted)"
    )


def test_the_notes_are_all_of_them_in_order():
    found = confirmed(tpot_limit=0.05)
    assert notes(found) == [
        break_even_words(found.best),
        *limit_lines(found),
        *bench_lines(found),
        *bill_lines(found),
    ]
