"""Streaming text: nothing early, nothing lost, stop strings cut exactly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from trtspec.run.text import TextStream


def byte_tokenizer() -> Tokenizer:
    """One token per byte, so that characters and stop strings span tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({c: i for i, c in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<end>"])
    return tokenizer


BYTES = byte_tokenizer()


def fallback_tokenizer() -> Tokenizer:
    """Words, and bytes for everything else, as in Llama 2, Mistral and Gemma."""
    words = ["<unk>", "\u2581hello", "\u2581world", "lo", "\u2581"]
    pieces = words + [f"<0x{byte:02X}>" for byte in range(256)]
    tokenizer = Tokenizer(models.BPE({p: i for i, p in enumerate(pieces)}, []))
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.Replace("\u2581", " "),
            decoders.ByteFallback(),
            decoders.Fuse(),
            decoders.Strip(" ", 1, 0),
        ]
    )
    return tokenizer


FALLBACK = fallback_tokenizer()
FALLBACK_TOKENS = st.lists(
    st.sampled_from([1, 2, 3, 4, *(5 + b for b in (0x0A, 0xC3, 0xA9, 0xE4, 0x41))]),
    max_size=12,
)


@given(FALLBACK_TOKENS)
def test_byte_fallback_tokens_never_fail_and_nothing_is_lost(tokens):
    """Invalid byte sequences occur in real output; they must not end the engine."""
    stream = TextStream(FALLBACK, ())
    pieces = []
    for token in tokens:
        stream.add(token)
        pieces.append(stream.release())
    pieces.append(stream.finish())
    assert "".join(pieces) == stream.text
    whole = FALLBACK.decode(tokens)
    if "\ufffd" not in whole:
        assert stream.text == whole
    assert stream.text.count("hello") == tokens.count(1)


def test_a_byte_sequence_that_is_no_character_is_shown_as_such():
    stream = TextStream(FALLBACK, ())
    for token in (1, 5 + 0x0A, 5 + 0xE4, 2):
        stream.add(token)
    stream.finish()
    assert stream.text.startswith("hello")
    assert stream.text.endswith("world")
    assert "\ufffd" in stream.text


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
