"""Streams, stop strings and token counts, with each fault planted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.verify.canary.fakes import FakeTalker, cut, text_of
from trtspec.verify.canary import Ask, Heard
from trtspec.verify.canary.look_at_talk import look_at_talk, stop_string

ASKS = [Ask(f"q{i}", f"prompt {i}", 48) for i in range(2)]


def verdicts(talker: FakeTalker, asks=ASKS) -> dict[str, str]:
    return {check.name: check.verdict for check in look_at_talk(talker, asks)}


def reasons(talker: FakeTalker) -> str:
    return " | ".join(check.what for check in look_at_talk(talker, ASKS))


FINE = {"streaming": "pass", "stop strings": "pass", "usage": "pass"}


def test_a_sane_engine_passes():
    assert verdicts(FakeTalker()) == FINE


def only(when, **changes):
    """Change what is heard where a condition on the request holds."""

    def heard(ask: Ask, plain: Heard) -> Heard:
        return replace(plain, **changes) if when(ask) else plain

    return heard


def lost_piece(ask: Ask, plain: Heard) -> Heard:
    return replace(plain, pieces=plain.pieces[:-1]) if ask.stream else plain


def doubled_piece(ask: Ask, plain: Heard) -> Heard:
    pieces = (*plain.pieces[:2], *plain.pieces[1:])
    return replace(plain, pieces=pieces) if ask.stream else plain


@pytest.mark.parametrize("fault", [lost_piece, doubled_piece])
def test_a_stream_that_is_another_text_fails(fault):
    talker = FakeTalker(fault)

    assert verdicts(talker)["streaming"] == "fail"
    assert "from character" in reasons(talker)


def test_an_engine_that_differs_from_itself_cannot_be_judged():
    times = iter(range(1000))

    def wavering(ask: Ask, plain: Heard) -> Heard:
        text = text_of(f"{ask.prompt} {next(times)}", ask.max_tokens)
        return replace(plain, pieces=cut(text) if ask.stream else (text,))

    assert verdicts(FakeTalker(wavering))["streaming"] == "cannot tell"


def test_stop_strings_that_are_not_honoured_fail():
    talker = FakeTalker(stops=False)

    assert verdicts(talker) == FINE | {"stop strings": "fail"}
    assert "still in the text" in reasons(talker)


def overshoot(ask: Ask, plain: Heard) -> Heard:
    """The text of the step that held the stop string is kept."""
    if not (ask.stop and ask.stream):
        return plain
    return replace(plain, pieces=(*plain.pieces, ask.stop[0][:3]))


def undershoot(ask: Ask, plain: Heard) -> Heard:
    """The whole step that held the stop string is dropped."""
    return replace(plain, pieces=plain.pieces[:-1]) if ask.stop else plain


@pytest.mark.parametrize("fault", [overshoot, undershoot])
def test_a_text_that_is_cut_elsewhere_fails(fault):
    talker = FakeTalker(fault)

    assert verdicts(talker)["stop strings"] == "fail"
    assert "the text ends in" in reasons(talker)


def test_a_request_that_went_on_behind_its_stop_string_fails():
    talker = FakeTalker(only(lambda ask: bool(ask.stop), finish="length"))

    assert verdicts(talker)["stop strings"] == "fail"


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"completion_tokens": 49}, "asked for"),
        ({"completion_tokens": 47}, "full length"),
        ({"completion_tokens": 0, "finish": "", "total_tokens": 7}, "without a token"),
        ({"total_tokens": 99}, "by its parts"),
        ({"tokens": (1, 2, 3)}, "token ids"),
    ],
)
def test_counts_that_do_not_add_up_fail(changes, word):
    talker = FakeTalker(only(lambda ask: not ask.stop, **changes))

    assert verdicts(talker)["usage"] == "fail"
    assert word in reasons(talker)


@pytest.mark.parametrize(
    "changes", [{"prompt_tokens": 8, "total_tokens": None}, {"completion_tokens": 40}]
)
def test_counts_that_differ_for_the_same_text_fail(changes):
    changed = {"finish": "stop", "total_tokens": None, **changes}
    talker = FakeTalker(only(lambda ask: ask.stream and not ask.stop, **changed))

    assert verdicts(talker)["usage"] == "fail"
    assert "for the same text" in reasons(talker)


def test_an_engine_that_does_not_count_cannot_be_judged():
    nothing = {"completion_tokens": None, "prompt_tokens": None, "total_tokens": None}
    talker = FakeTalker(only(lambda ask: True, **nothing))

    assert verdicts(talker) == FINE | {"usage": "cannot tell"}


def test_texts_too_short_for_a_stop_string_cannot_be_judged():
    short = [replace(ask, max_tokens=1) for ask in ASKS]

    assert verdicts(FakeTalker(), short)["stop strings"] == "cannot tell"


@pytest.mark.parametrize("seed", range(50))
def test_a_stop_string_lies_inside_and_spans_two_words(seed):
    text = text_of(f"seed {seed}", 40)

    found = stop_string(text)
    assert found in text
    assert " " in found.strip()
    assert 0 < text.index(found) < len(text) - len(found)


@pytest.mark.parametrize("text", ["", "word", "onelongwordwithoutanyspaceinside" * 3])
def test_without_words_there_is_none(text):
    assert not stop_string(text)
