"""Each tokenizer's spelling of a token is read as the text that it stands for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers.pre_tokenizers import ByteLevel

from trtspec.models.token_forms import BYTE_OF, form_of, spelled, text_of


@pytest.mark.parametrize(
    ("tokens", "form"),
    [
        (["a", "Ġthe", "b"], "bytes"),
        (["<s>", "▁the"], "pieces"),
        (["a", "the"], "plain"),
        ([], "plain"),
    ],
)
def test_a_vocabulary_is_told_by_how_it_writes_a_space(tokens, form):
    assert form_of(tokens) == form


@pytest.mark.parametrize(
    ("token", "form", "text"),
    [
        ("Ġthe", "bytes", b" the"),
        ("Ċ", "bytes", b"\n"),
        ("Ã©", "bytes", "é".encode()),
        ("<|end|>", "bytes", b"<|end|>"),
        ("<\uff5cend\uff5c>", "bytes", "<\uff5cend\uff5c>".encode()),
        ("▁the", "pieces", b" the"),
        ("<0x0A>", "pieces", b"\n"),
        ("é", "pieces", "é".encode()),
        (" the", "plain", b" the"),
        ("\ud83d", "plain", b"\xed\xa0\xbd"),
    ],
)
def test_the_spelling_of_each_form_is_undone(token, form, text):
    assert text_of(token, form) == text


def test_the_characters_of_bytes_are_those_of_the_tokenizers_library():
    assert {chr(point) for point in BYTE_OF} == set(ByteLevel.alphabet())
    assert sorted(BYTE_OF.values()) == list(range(256))


@given(text=st.text(max_size=20))
def test_text_spelled_as_bytes_is_that_text_again_and_what_the_library_writes(text):
    token = spelled(text, "bytes")
    assert text_of(token, "bytes") == text.encode()
    pieces = ByteLevel(add_prefix_space=False, use_regex=False).pre_tokenize_str(text)
    assert "".join(piece for piece, _ in pieces) == token


def test_text_is_spelled_as_pieces_with_marks_for_spaces():
    assert spelled(" a b", "pieces") == "▁a▁b"
    assert spelled(" a b", "plain") == " a b"
