"""A baseline that answers something else is no baseline; near ties are no reason."""

from __future__ import annotations

import pytest

from tests.bench.doubts.scenes import arm, found, text_like, varied
from tests.bench.fakes import FakeRunner, plan, run
from trtspec.bench.sentences import warning_lines

ID = "different-outputs"


def changed_at(position: int, prompts: int):
    """The first so many prompts get another token at a position."""

    def change(block, prompt):
        tokens = list(text_like(prompt))
        if prompt < prompts:
            tokens[position] += 1
        # the same in every block, so that the arm repeats itself
        more = {"tokens": tuple(tokens)} if block == 1 else {}
        return {**varied(block, prompt), **more}

    return change


@pytest.mark.parametrize(
    ("position", "prompts", "told"),
    [
        (0, 8, True),
        (15, 5, True),
        (15, 4, False),  # half of them
        (16, 8, False),  # later: near ties add up
        (60, 8, False),
    ],
)
def test_most_answers_that_part_early_are_told(position, prompts, told):
    doubt = found(arm("on", changed_at(position, prompts))).get(ID)
    assert (doubt is not None) is told
    if doubt:
        assert not doubt.fatal
        assert f"{prompts} of 8 greedy answers of arm on" in doubt.what
        assert "first 16 tokens" in doubt.what


def as_text(start: str):
    def change(block, prompt):
        text = f"{start} {prompt} and then much the same for a hundred characters more"
        more = {"text": text, "tokens": None} if block == 1 else {}
        return {**varied(block, prompt), **more}

    return change


def test_texts_of_servers_are_compared_by_characters():
    off = arm("off", lambda b, p: {k: as_text("It is")(b, p).get(k) for k in KEYS})
    assert ID not in found(arm("on", as_text("It is")), off)
    doubt = found(arm("on", as_text("Is it")), off)[ID]
    assert "first 64 characters" in doubt.what


KEYS = ("text", "tokens")


def test_sampled_and_lossy_arms_may_say_something_else():
    on = arm("on", changed_at(0, 8))
    assert ID not in found(on, of=plan(8, temperature=1.0))
    lossy = arm("on", lambda b, p: {**changed_at(0, 8)(b, p), "lossy": "typical"})
    assert ID not in found(lossy)


def test_a_baseline_that_does_not_repeat_itself_proves_nothing():
    off = arm("off", lambda b, p: {"output_sha256": f"{b}"})
    assert ID not in found(arm("on", changed_at(0, 8)), off)


def test_ids_and_texts_are_not_compared_with_each_other():
    on = run(FakeRunner(), plan(8)).result.cells[0].comparisons["on"]
    assert on.outputs.identical == 8
    mixed = found(arm("on", as_text("It is")))
    assert ID not in mixed


def test_a_faster_model_is_not_taken_for_faster_speculation_without_a_word():
    """What the on server would be, if it served a smaller model under the same name."""
    runner = FakeRunner(
        output_of=lambda r: [
            (sum(r.prompt) + 17 * r.speculate) * 31 % 997 + 13 * i * i % 101
            for i in range(r.max_new_tokens)
        ]
    )
    result = run(runner, plan(8, output_tokens=20)).result
    (told,) = [line for line in warning_lines(result) if "part from those of" in line]
    assert told.startswith("warning: concurrency 1, on: 8 of 8 greedy answers")
