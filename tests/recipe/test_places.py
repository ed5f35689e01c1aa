"""Advice for unknown keys: the other name, the right place, the nearest word."""

import pytest

from trtspec.recipe.allowed import SchemaWords
from trtspec.recipe.places import advice

NGRAM = {"speculation": {"method": "ngram"}}


@pytest.fixture(scope="module")
def words():
    return SchemaWords()


@pytest.mark.parametrize(
    ("key", "section", "expected"),
    [
        # another tool's name for a key of this section comes before the same key of
        # another section, and that before a likeness
        ("ngram_size", ("speculation",), "write max_matching_ngram"),
        (
            "window_size",
            ("speculation",),
            "window_size belongs to method lookahead: delete it or change the method",
        ),
        ("window_size", (), "window_size belongs under speculation (method lookahead)"),
        (
            "max_num_tokens",
            ("limits",),
            "max_num_tokens belongs under engine, or under pytorch: move",
        ),
        ("max_seq_len", ("limits",), "write max_total_tokens"),
        ("max_batchsize", ("limits",), "write max_batch_size"),
        ("max_batchsize", ("sampling",), "write max_batch_size, under limits"),
        ("posterior_treshold", (), "write posterior_threshold, under speculation (me"),
        ("zzz", ("engine",), "put it under engine.build_flags if it belongs there, or"),
        ("zzz", ("limits",), "delete it"),
        ("zzz", (), "delete it"),
    ],
)
def test_advice_for_an_unknown_key(words, key, section, expected):
    node = words.node(section, NGRAM)
    assert advice(words, key, section, node).startswith(expected)
