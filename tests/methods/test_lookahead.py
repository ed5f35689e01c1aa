"""Lookahead: the tokens that window, n-grams and verification set take."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.methods.samples import made, refusal


def lookahead(window, ngram, verified):
    return made(
        "lookahead",
        window_size=window,
        ngram_size=ngram,
        verification_set_size=verified,
    )


@pytest.mark.parametrize(
    ("sizes", "tokens"),
    [
        # TensorRT-LLM's own example: 5 + 13 * 6
        ((7, 7, 7), 83),
        # 1 + 7 * 2
        ((4, 3, 4), 15),
        # the smallest that drafts: 0 + 2 * 1
        ((2, 2, 1), 2),
        # no n-grams: plain decoding
        ((1, 1, 0), 0),
        # a window of one: only the verified n-grams, 1 + 4 * 2
        ((1, 3, 4), 9),
    ],
)
def test_longest_draft_counted_by_hand(sizes, tokens):
    assert lookahead(*sizes).longest_draft == tokens


def test_default_sizes_are_those_of_tensorrt_llm():
    assert made("lookahead") == lookahead(4, 3, 4)


@given(st.integers(1, 16), st.integers(2, 8), st.integers(0, 16))
def test_larger_sizes_never_take_fewer_tokens(window, ngram, verified):
    tokens = lookahead(window, ngram, verified).longest_draft
    assert lookahead(window + 1, ngram, verified).longest_draft == tokens + ngram - 1
    assert lookahead(window, ngram, verified + 1).longest_draft == tokens + ngram - 1
    assert lookahead(window, ngram + 1, verified).longest_draft > tokens


@pytest.mark.parametrize(
    "fields",
    [
        {"ngram_size": 1},
        {"ngram_size": 1, "window_size": 1},
        {"ngram_size": 1, "window_size": 2, "verification_set_size": 0},
    ],
)
def test_n_grams_of_one_token_are_refused(fields):
    assert refusal("lookahead", **fields) == {
        "place": ("ngram_size",),
        "what": "is 1, which has no n-grams to look for",
        "allowed": "ngram_size 2 or more, or window_size 1 and verification_set_size 0",
        "action": "write ngram_size: 2, or method: none for plain decoding",
    }


@pytest.mark.parametrize(
    ("fields", "key", "sizes", "tokens"),
    [
        # 1 + 127 * 2 + 4 * 2 is above, one less is not
        ({"window_size": 125}, "window_size", (125, 3, 4), 257),
        ({"verification_set_size": 125}, "verification_set_size", (4, 3, 125), 257),
        ({"ngram_size": 34}, "ngram_size", (4, 34, 4), 263),
    ],
)
def test_more_tokens_than_an_engine_has_room_for_are_refused(
    fields, key, sizes, tokens
):
    assert refusal("lookahead", **fields) == {
        "place": (key,),
        "what": "is too large: window, n-gram and verification set of "
        f"{sizes} take {tokens} tokens to verify",
        "allowed": "sizes that take up to 256 tokens",
        "action": "lower window_size, ngram_size or verification_set_size",
    }
    (value,) = fields.values()
    assert made("lookahead", **{key: value - 1}).longest_draft <= 256
