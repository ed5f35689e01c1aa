"""Loops are found in ids and in text, and good answers are left alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.doubts.scenes import arm, found, text_like, varied
from tests.bench.fakes import plan, sample
from trtspec.bench.doubts.cycles import repeated_share
from trtspec.bench.doubts.degenerate import SENTENCE, loops

GOOD_TEXTS = (
    "1. Remove the battery before you clean the device.\n2. Wipe the housing with a "
    "soft, slightly damp cloth.\n3. Do not use alcohol or solvents on the screen.",
    '{"name": "Ada", "age": 36, "languages": ["en", "fr"]},\n{"name": "Grace", "age": '
    '85, "languages": ["en"]},\n{"name": "Linus", "age": 54, "languages": ["fi"]}',
    "| city | people |\n|------|--------|\n| Bern | 134 000 |\n| Basel | 178 000 |\n"
    "| Zürich | 443 000 |\n| Genf | 206 000 |\n",
    "for row in rows:\n    for cell in row:\n        total += cell.value\n    "
    "rows.pop()\nreturn total / max(len(rows), 1)\n",
)


@pytest.mark.parametrize(
    ("items", "share"),
    [
        ((1, 2, 1, 2, 1, 2, 9, 9), 0.75),
        ((7,) * 10, 1.0),
        ((1, 2, 3, 4, 5, 6, 7, 8), 0.0),
        ((1, 1), 0.0),
        ((), 0.0),
        ((5, 1, 2, 3, 1, 2, 3, 4), 0.75),
        ((1, 2, 3, 1, 2, 4, 5, 6), 0.0),
    ],
)
def test_share_of_a_sequence_that_a_short_cycle_covers(items, share):
    assert repeated_share(items, 3) == share


@given(
    st.lists(st.integers(0, 50), min_size=1, max_size=8),
    st.integers(4, 20),
    st.lists(st.integers(100, 10**6), unique=True, max_size=30),
)
def test_a_repeated_cycle_is_found_whatever_surrounds_it(cycle, times, around):
    items = [*around, *cycle * times]
    share = repeated_share(items, 8)
    assert share >= len(cycle) * times / len(items) - 1e-9


@given(st.lists(st.integers(0, 10**6), unique=True, max_size=60))
def test_items_that_never_repeat_are_no_loop(items):
    assert repeated_share(items, 8) == 0


@pytest.mark.parametrize(
    "tokens",
    [
        (42,) * 64,
        (*text_like(3, 24), *(1, 2, 3) * 20),
        (*text_like(1, 10), *[2] * 12),
    ],
)
def test_an_answer_that_is_mostly_one_cycle_loops(tokens):
    assert loops(sample(tokens=tokens)) is True


@pytest.mark.parametrize("text", ["ha " * 40, "so it goes, " * 12, "…" * 80])
def test_a_text_without_ids_is_judged_by_its_characters(text):
    assert loops(sample(text=text)) is True


@pytest.mark.parametrize("text", GOOD_TEXTS)
def test_good_text_does_not_loop(text):
    assert loops(sample(text=text)) is False


def test_short_answers_and_kept_nothing_are_not_judged():
    assert loops(sample(tokens=(1,) * 15)) is None
    assert loops(sample(text="yes yes yes")) is None
    assert loops(sample()) is None


@pytest.mark.parametrize("name", ["on", "off"])
@pytest.mark.parametrize(("looping", "fatal"), [(1, False), (2, True), (8, True)])
def test_loops_in_either_arm_take_the_claim_away_from_a_fifth_on(name, looping, fatal):
    def change(block, prompt):
        loop = {"tokens": (9,) * 80} if block == 1 and prompt < looping else {}
        return {**(varied(block, prompt) if name == "on" else {}), **loop}

    arms = {"on": arm("on", varied), "off": arm("off")} | {name: arm(name, change)}
    doubt = found(arms["on"], arms["off"])["degenerate-output"]
    assert doubt.fatal is fatal
    assert f"arm {name}: {looping} of 8 answers" in doubt.what


def test_fixed_lengths_are_named_as_the_cause():
    looping = arm("on", lambda b, p: {"tokens": (9,) * 80})
    what = found(looping, of=plan(8, fixed_length=True))["degenerate-output"].what
    assert "past their natural end" in what


def looping_sentences(count: int):
    """Answers of which ``count`` repeat 20 tokens four times."""

    def change(block, prompt):
        loop = {"tokens": text_like(5, 20) * 4} if block == 1 and prompt < count else {}
        return {**varied(block, prompt), **loop}

    return arm("on", change)


@pytest.mark.parametrize(("looping", "fatal"), [(1, False), (4, False), (5, True)])
def test_repeated_sentences_are_told_and_fatal_in_most_answers(looping, fatal):
    doubts = found(looping_sentences(looping))
    # where most answers are not off's, that is told as well
    assert list(doubts)[:1] == ["repeating-output"]
    assert doubts["repeating-output"].fatal is fatal
    assert f"{looping} of 8 answers" in doubts["repeating-output"].what


def test_an_answer_that_quotes_itself_once_is_none():
    twice = arm("on", lambda b, p: {**varied(b, p), "tokens": text_like(p, 40) * 2})
    assert found(twice) == {}


@pytest.mark.parametrize("text", GOOD_TEXTS)
def test_good_text_repeats_no_sentence_either(text):
    assert loops(sample(text=text), SENTENCE) is False
