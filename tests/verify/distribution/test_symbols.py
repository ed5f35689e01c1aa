import pytest

from trtspec.verify.arm import Answer
from trtspec.verify.distribution.symbols import END, only_text, symbols_of


def answer(tokens=None, text=""):
    return Answer("a", tokens, text)


def test_token_ids_are_taken_where_they_are():
    assert symbols_of(answer((5, 6, 7), "five six"), 2, as_text=False) == (5, 6)


def test_what_ends_early_is_filled_up():
    assert symbols_of(answer((5,)), 3, as_text=False) == (5, END, END)
    assert symbols_of(answer(text=""), 2, as_text=True) == (END, END)


def test_text_is_taken_where_another_arm_has_no_ids():
    both = [answer((5, 6), "five six"), answer(text="five six")]
    assert only_text(both)
    first, second = (symbols_of(one, 2, as_text=True) for one in both)
    assert first == second == ("five", " six")
    assert not only_text(both[:1])


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (" The end.", (" The", " end", ".")),
        ("a\n\nb", ("a", "\n\nb")),
        ("don't", ("don", "'", "t")),
        ("日本語です", ("日", "本", "語")),
        ("x日y", ("x", "日", "y")),
        ("a  ", ("a", "  ")),
        ("한국", ("한", "국")),
    ],
)
def test_pieces_are_words_signs_and_single_characters_of_other_scripts(text, pieces):
    found = symbols_of(answer(text=text), len(pieces), as_text=True)
    assert found == pieces


@pytest.mark.parametrize("text", ["one, two  three\n", "x_1 = f(2.5)\n\n", "日本 go! "])
def test_no_character_of_a_text_is_lost(text):
    assert "".join(symbols_of(answer(text=text), 40, as_text=True)) == text
