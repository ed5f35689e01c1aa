"""Scores of a text are those of plain forwards, and the slots are left empty."""

import pytest
import torch

from tests.reference.artifacts import recipe, write_model
from tests.reference.toys import full_logits, toy_model
from trtspec.errors import RunError
from trtspec.reference.runner import ReferenceRunner
from trtspec.reference.scoring import Scorer, shortfalls
from trtspec.run import Request, generate

PROMPT, OUTPUT = (3, 9, 4), (8, 2, 7, 5, 6)


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    folder = write_model(tmp_path_factory.mktemp("target"))
    runner = ReferenceRunner(recipe(), folder, None)
    yield runner
    runner.close()


def test_a_pair_has_the_logits_after_the_text(runner):
    expected = full_logits(PROMPT)[-1]
    found = Scorer(runner).pair(PROMPT, 5, 6)
    assert found.one == pytest.approx(float(expected[5]), abs=1e-4)
    assert found.other == pytest.approx(float(expected[6]), abs=1e-4)
    assert found.best == int(expected.argmax())


def test_a_text_of_one_token_can_be_scored(runner):
    expected = full_logits((3,))[-1]
    assert Scorer(runner).pair((3,), 5, 6).one == pytest.approx(
        float(expected[5]), abs=1e-4
    )


def test_the_slots_are_empty_again_and_the_engine_goes_on_as_before(runner):
    asked = [Request("r", PROMPT, 6, ignore_eos=True)]
    before = [c.completion for c in generate(runner, asked)][-1].tokens
    scorer = Scorer(runner)
    scorer.pair(PROMPT, 5, 6)
    scorer.spread(PROMPT, OUTPUT, 3)
    assert runner.target_slots.lengths == [0, 0]
    after = [c.completion for c in generate(runner, asked)][-1].tokens
    assert before == after


@pytest.mark.parametrize("width", [1, 2, 3, 64])
def test_the_spread_has_an_entry_per_place_and_is_rounding(runner, width):
    found = Scorer(runner).spread(PROMPT, OUTPUT, width)
    # after the prompt, and after each token of the output
    assert len(found) == len(OUTPUT) + 1
    assert max(found) < 1e-3
    if width == 1:
        assert max(found) == 0.0


def test_while_requests_run_nothing_is_scored(runner):
    runner.submit(Request("r", PROMPT, 6))
    with pytest.raises(RunError, match="busy"):
        Scorer(runner).pair(PROMPT, 5, 6)
    runner.cancel("r")
    while runner.busy:
        runner.advance()


def test_shortfalls_are_the_distances_from_the_likeliest():
    logits = full_logits((*PROMPT, *OUTPUT)).float()
    found = shortfalls(toy_model(), PROMPT, OUTPUT)
    assert len(found) == len(OUTPUT)
    for place, (token, seen) in enumerate(zip(OUTPUT, found, strict=True)):
        row = logits[len(PROMPT) - 1 + place]
        assert seen.largest == pytest.approx(float(row.max()), abs=1e-4)
        assert seen.gap == pytest.approx(float(row.max() - row[token]), abs=1e-4)
        assert seen.gap >= 0


def test_a_greedy_output_falls_short_nowhere(runner):
    asked = [Request("r", PROMPT, 12, ignore_eos=True)]
    tokens = [c.completion for c in generate(runner, asked)][-1].tokens
    found = shortfalls(runner.target_model, PROMPT, tokens)
    assert max(seen.gap for seen in found) < 1e-4


def test_one_changed_token_is_seen_and_what_follows_is_judged_after_it(runner):
    asked = [Request("r", PROMPT, 12, ignore_eos=True)]
    tokens = [c.completion for c in generate(runner, asked)][-1].tokens
    wrong = list(tokens)
    wrong[5] = int(full_logits((*PROMPT, *tokens[:5]))[-1].argmin())
    rest = [Request("r", (*PROMPT, *wrong[:6]), 6, ignore_eos=True)]
    wrong[6:] = [c.completion for c in generate(runner, rest)][-1].tokens
    gaps = [seen.gap for seen in shortfalls(runner.target_model, PROMPT, wrong)]
    assert gaps[5] > 1
    assert max(gaps[:5] + gaps[6:]) < 1e-4


def test_scoring_keeps_no_graph():
    with torch.enable_grad():
        assert all(
            isinstance(seen.gap, float)
            for seen in shortfalls(toy_model(), PROMPT, OUTPUT)
        )
