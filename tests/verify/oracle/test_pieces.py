"""Pieces of text are found again as the tokens that they are."""

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from trtspec.verify.arm import Answer
from trtspec.verify.oracle.pieces import symbols_in

WORDS = ["a", "\u2581b", "b", "c", "\u2581c", "</s>"]


@pytest.fixture
def directory(tmp_path):
    """A vocabulary with word starts, whose decoder drops the first space."""
    tokenizer = Tokenizer(
        models.WordLevel({w: i for i, w in enumerate(WORDS)}, unk_token="a")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("\u2581", " "),
            decoders.Fuse(),
            decoders.Strip(content=" ", left=1, right=0),
        ]
    )
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def path(symbols, *pieces):
    answer = Answer("p", None, "".join(pieces), "length", pieces=pieces)
    return symbols.path(symbols.read(answer, len(pieces)))


def test_tokens_are_told_by_how_they_read_behind_another(directory):
    symbols = symbols_in(directory, len(WORDS), {5})
    assert path(symbols, "b", " c", " b", "c") == (2, 4, 1, 3)


def test_rows_behind_the_tokenizer_have_no_text(directory):
    symbols = symbols_in(directory, len(WORDS) + 3, {5})
    assert len(symbols.of_token) == 9
    assert path(symbols, " b") == (1,)


def test_ends_are_one_symbol(directory):
    symbols = symbols_in(directory, len(WORDS), {5})
    answer = Answer("p", None, "b", "stop", pieces=("b",))
    assert symbols.read(answer, 3)[-1] == symbols.end
