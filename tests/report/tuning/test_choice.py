"""The choice: one sentence, a verdict per load, and what takes away from it."""

from __future__ import annotations

import pytest

from tests.report.tuning.made import shown
from tests.tune.made_result import (
    candidate,
    conditions,
    confirmed,
    load,
    measured,
    result,
)
from trtspec.bench.cells import Doubt
from trtspec.bench.result import PromptSet

CHOICE = "Choice"


def verdicts(page):
    (found,) = page.of(CHOICE, "verdicts")
    return found


def notes(page):
    return [(note.tone, note.text) for note in page.of(CHOICE, "note")]


def test_the_headline_says_what_to_do(full):
    (line,) = verdicts(full).headlines
    assert line.name == (
        "Draft 3 tokens per step up to 1 running request, 2 up to 4, none above."
    )
    assert line.said.startswith("Measured: faster at concurrency 1 and 4; nothing is")
    assert line.break_even == (
        "Predicted: break-even at 6.2 running requests [5.1, 7.4]."
    )


def test_every_load_has_its_word_and_the_measured_ratio(full):
    rows = [one.rows[0] for one in verdicts(full).loads]
    assert [row.word for row in rows] == ["faster", "faster", "slower"]
    assert [row.speed.estimate for row in rows] == [1.85, 1.3, 0.8]
    assert {one.speed_name for one in verdicts(full).loads} == {"measured / plain"}
    assert dict(rows[0].facts)["predicted"] == "1.90× [1.71, 2.09]"
    assert dict(rows[0].facts)["acceptance length"] == "2.20 replayed, 2.21 measured"
    assert dict(rows[0].facts)["tokens/s predicted"] == "50.0 → 95.0"


def test_a_load_that_was_not_measured_shows_the_prediction(plain):
    first = verdicts(plain).loads[0]
    assert first.load == "1 request in flight"
    assert first.speed_name == "predicted / plain"
    assert first.rows[0].speed.interval == pytest.approx((1.71, 2.09))
    assert "predicted" not in dict(first.rows[0].facts)
    assert notes(plain) == [
        ("info", "Predicted, not measured: no bench confirmed the choice.")
    ]


def test_where_nothing_is_drafted_the_row_says_whose_figures_it_has(none):
    (line,) = verdicts(none).headlines
    assert line.name == "Do not speculate on this workload."
    assert "would give 0.80 [0.72, 0.88] and 0.70 [0.63, 0.77]" in line.said
    row = verdicts(none).loads[0].rows[0]
    assert row.name == "no drafts (shown: the best length, 1)"
    assert (row.word, row.speed.estimate) == ("slower", 0.8)
    assert dict(row.facts)["tokens/s predicted"] == "50.0 (plain)"


def test_disagreement_and_regret_stand_at_their_load(full):
    remarks = [one.rows[0].remarks for one in verdicts(full).loads]
    assert [tone for tone, _ in remarks[0]] == ["info"]
    assert "Regret 0.0 %" in remarks[0][0][1]
    assert [tone for tone, _ in remarks[1]] == ["warning", "info"]
    assert "the measurement counts" in remarks[1][0][1]
    assert remarks[2] == ()


def test_limit_and_changes_are_told(full):
    (found,) = full.of(CHOICE, "bullets")
    assert found.items == (
        "TPOT up to 0.05 s (predicted): concurrency 1 and 4.",
        "Changed by the bench: at 8 running: plain decoding in place of the predicted "
        "choice.",
    )


def test_one_prompt_carries_no_claim(tmp_path):
    alone = candidate(loads=(load(1, interval=None),))
    page = shown(tmp_path, result(alone))
    row = verdicts(page).loads[0].rows[0]
    assert row.word == "no claim"
    assert ("info", "One prompt only carries no interval, so no claim.") in row.remarks


def test_a_busy_machine_forced_acceptance_and_doubtful_prompts_come_first(tmp_path):
    busy = conditions(busy_cores=1.5)
    forced = {"TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS": "3"}
    doubt = Doubt(id="repeated-prompts", what="2 of 8 were there before", fatal=True)
    made = result(
        conditions=busy.model_copy(update={"environment": forced}),
        prompts=PromptSet(file="x.jsonl", sha256="a" * 64, count=8, doubts=(doubt,)),
    )
    told = [text for tone, text in notes(shown(tmp_path, made)) if tone == "warning"]
    assert told[0] == "Other programs used 1.5 cores just before the start."
    assert "forces the number of accepted draft tokens" in told[1]
    assert told[2] == "repeated-prompts: 2 of 8 were there before."


def test_a_tree_says_that_only_its_setting_was_looked_at(tmp_path):
    own = candidate(cut_anywhere=False, draft_length=4)
    page = shown(tmp_path, result(own))
    assert any("own setting only" in text for _, text in notes(page))
    assert verdicts(page).headlines[0].name == "Draft as the recipe has it."


def test_a_chosen_tree_is_named_and_its_lengths_explained(tmp_path):
    own = candidate(cut_anywhere=False, draft_length=2, tree=((0,), (0, 0)))
    page = shown(tmp_path, result(own))
    assert verdicts(page).headlines[0].name == "Draft a tree of 2 nodes per step."
    assert ("info", "Draft lengths count the nodes of a tree here.") in notes(page)
    (code,) = page.of("The tuned recipe", "code")
    assert code.text.endswith("  tree: [[0], [0, 0]]")


def test_priced_times_claim_nothing(tmp_path):
    priced = candidate(loads=(load(1, priced=True),))
    page = shown(tmp_path, result(priced, costs="priced", notes=("of kernels",)))
    row = verdicts(page).loads[0].rows[0]
    assert row.word == "no claim"
    assert row.remarks[0][1].startswith("Priced, measured nowhere")
    assert page.of(CHOICE, "bullets")[0].items == ("Of kernels.",)


def test_the_table_has_every_figure(full):
    table = verdicts(full).table
    row = dict(zip(table.columns, table.rows[2], strict=True))
    assert row["draft length"] == "none (best: 1)"
    assert row["predicted gain"] == "0.88× [0.79, 0.97]"
    assert row["measured gain"] == "0.80× [0.76, 0.84]"
    assert row["plain tokens/s"] == row["chosen tokens/s"] == "400.0"
    assert row["TPOT ms"] == "96.0"


def test_without_a_bench_its_columns_are_left_out(plain):
    assert "measured gain" not in verdicts(plain).table.columns


def test_a_word_of_the_bench_goes_before_the_prediction(tmp_path):
    unsure = load(1, measured=measured(1.1, "no claim", interval=(0.9, 1.3)))
    made = confirmed().model_copy(update={"candidates": (candidate(loads=(unsure,)),)})
    page = shown(tmp_path, made)
    assert verdicts(page).loads[0].rows[0].word == "no claim"
