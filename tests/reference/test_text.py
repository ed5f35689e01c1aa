"""Streaming text: nothing early, nothing lost, stop strings cut exactly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from trtspec.reference.text import TextStream


def byte_tokenizer() -> Tokenizer:
    """One token per byte, so that characters and stop strings span tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({c: i for i, c in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end>"])
    return tokenizer


BYTES = byte_tokenizer()


def stream_all(text, stop=(), tokens=None):
    """Feed a text token by token; give the streamed pieces and the stream."""
    stream, pieces = TextStream(BYTES, stop), []
    for token in tokens or BYTES.encode(text).ids:
        ended = stream.add(token)
        pieces.append(stream.release())
        if ended:
            break
    pieces.append(stream.finish())
    return pieces, stream


def test_a_character_is_released_when_its_last_byte_is_there():
    pieces, _ = stream_all("é!")
    assert pieces == ["", "é", "!", ""]


def test_an_incomplete_character_is_shown_at_the_end():
    pieces, stream = stream_all("", tokens=BYTES.encode("aé").ids[:2])
    assert "".join(pieces) == stream.text == "a\ufffd"


def test_special_tokens_are_not_text():
    _, stream = stream_all(
        "", tokens=[*BYTES.encode("a").ids, len(BYTES.get_vocab()) - 1]
    )
    assert stream.text == "a"


def test_text_that_may_begin_a_stop_string_is_held_back():
    pieces, stream = stream_all("abcd", stop=("cx",))
    assert pieces == ["", "a", "b", "c", "d"]
    assert not stream.stopped


def test_the_earliest_stop_string_cuts():
    pieces, stream = stream_all("one two three", stop=("three", "two"))
    assert "".join(pieces) == stream.text == "one "
    assert stream.stopped


@pytest.mark.parametrize("stop", ["a", "ab", "bab", "zz", "é", " b"])
@given(st.text("ab é", max_size=30))
def test_streamed_text_is_the_text_before_the_stop_string(stop, text):
    pieces, stream = stream_all(text, stop=(stop,))
    assert "".join(pieces) == stream.text == text.partition(stop)[0]
    assert stream.stopped == (stop in text)


@given(st.text(max_size=30))
def test_without_stop_strings_everything_is_streamed(text):
    pieces, stream = stream_all(text)
    assert "".join(pieces) == stream.text == text
