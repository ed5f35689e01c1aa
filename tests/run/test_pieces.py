"""Single tokens as text and bytes, for each way that tokenizers write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from tests.reference.engines import word_tokenizer
from tests.run.test_text import byte_tokenizer, fallback_tokenizer
from tests.serve.byte_toys import END, SENTENCES
from tests.serve.byte_toys import byte_tokenizer as merged_tokenizer
from trtspec.run.pieces import TokenPieces
from trtspec.run.tokens import TextCodec

BYTES = byte_tokenizer()
MERGED = merged_tokenizer()
FALLBACK = fallback_tokenizer()
_HELLO, _WORLD, _LO, _SPACE = 1, 2, 3, 4
_FIRST_BYTE = 5


def joined(tokenizer: Tokenizer, tokens) -> bytes:
    pieces = TokenPieces(tokenizer)
    found = [pieces.bytes(token) for token in tokens]
    assert None not in found
    return b"".join(found)


@given(st.text(max_size=40))
def test_bytes_of_byte_level_tokens_make_up_the_text(text):
    assert joined(BYTES, BYTES.encode(text).ids) == text.encode()


@given(st.text(alphabet="the cat🙂你é \n", max_size=40))
def test_merged_tokens_do_so_too(text):
    assert joined(MERGED, MERGED.encode(text).ids) == text.encode()


def test_all_single_bytes_are_known():
    alphabet = {token: char for char, token in BYTES.get_vocab().items()}
    pieces = TokenPieces(BYTES)
    found = {pieces.bytes(t) for t, char in alphabet.items() if len(char) == 1}
    assert found == {bytes([byte]) for byte in range(256)}


def test_part_of_a_character_reads_as_unknown_but_has_its_bytes():
    pieces = TokenPieces(BYTES)
    first, *_ = BYTES.encode("🙂").ids
    assert pieces.text(first) == "\ufffd"
    assert pieces.bytes(first) == "🙂".encode()[:1]


def test_a_token_of_whole_and_broken_characters_has_exact_bytes():
    """Such as the end of one character and the begin of the next."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    names = {char: i for i, char in enumerate(alphabet)}
    table = dict(zip(bytes_in_order(), alphabet_in_order(), strict=True))
    mixed = "".join(table[byte] for byte in b"a\x99\x82")
    tokenizer = Tokenizer(models.BPE({**names, mixed: 256}, []))
    tokenizer.decoder = decoders.ByteLevel()
    assert TokenPieces(tokenizer).bytes(256) == b"a\x99\x82"


def bytes_in_order():
    """Bytes that stand for themselves, and then the others; as GPT-2 numbers them."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return [*plain, *(b for b in range(256) if b not in plain)]


def alphabet_in_order():
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    return [chr(n) for n in (*plain, *range(256, 256 + 256 - len(plain)))]


def test_the_replacement_character_itself_is_no_broken_one():
    tokens = BYTES.encode("\ufffd").ids
    assert joined(BYTES, tokens) == "\ufffd".encode()


def test_special_tokens_are_shown_as_they_are_written():
    pieces = TokenPieces(MERGED)
    end = MERGED.token_to_id(END)
    assert pieces.text(end) == END
    assert pieces.bytes(end) == END.encode()


@pytest.mark.parametrize("sentence", SENTENCES)
def test_texts_of_whole_tokens_make_up_the_text(sentence):
    pieces = TokenPieces(MERGED)
    text = "".join(c for c in sentence if c.isascii())
    assert "".join(map(pieces.text, MERGED.encode(text).ids)) == text


def test_byte_fallback_tokens_are_their_bytes():
    pieces = TokenPieces(FALLBACK)
    tokens = [_FIRST_BYTE + byte for byte in "é".encode()]
    assert [pieces.bytes(t) for t in tokens] == [b"\xc3", b"\xa9"]
    assert pieces.bytes(_FIRST_BYTE + 0x0A) == b"\n"
    assert pieces.text(_FIRST_BYTE + 0x0A) == "\n"


def test_spaces_before_words_are_part_of_them():
    """Decoded alone, the first word of a text has none."""
    pieces = TokenPieces(FALLBACK)
    assert pieces.text(_WORLD) == " world"
    assert pieces.bytes(_WORLD) == b" world"
    assert pieces.text(_LO) == "lo"
    text = FALLBACK.decode([_HELLO, _WORLD, _LO])
    found = joined(FALLBACK, [_HELLO, _WORLD, _LO])
    assert found.decode() == f" {text}"


def test_words_have_the_space_that_joins_them():
    pieces = TokenPieces(word_tokenizer())
    assert pieces.text(7) == " w7"
    assert pieces.bytes(7) == b" w7"


def test_continued_words_have_no_space():
    names = {"play": 0, "##ing": 1}
    tokenizer = Tokenizer(models.WordPiece(names, unk_token="play"))
    tokenizer.decoder = decoders.WordPiece(prefix="##", cleanup=False)
    assert TokenPieces(tokenizer).text(1) == "ing"


def test_an_id_that_no_token_has_is_nothing():
    pieces = TokenPieces(BYTES)
    assert pieces.bytes(9999) is None
    assert pieces.text(9999) == ""


def test_a_codec_knows_its_tokens_and_how_many_there_are(tmp_path):
    """Added tokens count; an id beyond is one that no prompt may have."""
    tokenizer = byte_tokenizer()
    tokenizer.add_special_tokens(["<more>"])
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    codec = TextCodec(tmp_path)
    assert codec.vocabulary == tokenizer.token_to_id("<more>") + 1 == 258
    assert codec.pieces.text(codec.vocabulary - 1) == "<more>"
    assert codec.pieces is codec.pieces
