"""The nearest known word: by spelling, and by another tool's name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtspec.recipe.allowed import SchemaWords
from trtspec.recipe.suggest import _OTHER_NAMES, nearest, other_name
from trtspec.trtllm.facts.families import newest_of
from trtspec.trtllm.facts.llm_args import TOP_LEVEL, keys

LIMITS = ["max_batch_size", "max_input_tokens", "max_total_tokens", "kv_cache_fraction"]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("max_batchsize", "max_batch_size"),
        ("max-batch-size", "max_batch_size"),
        ("MAX_BATCH_SIZE", "max_batch_size"),
        ("maxBatchSize", "max_batch_size"),
        ("max batch size", "max_batch_size"),
        ("max_input_len", "max_input_tokens"),
        ("max_seq_len", "max_total_tokens"),
        ("free_gpu_memory_fraction", "kv_cache_fraction"),
        ("zzz", None),
        ("", None),
    ],
)
def test_nearest_limit(word, expected):
    assert nearest(word, LIMITS) == expected


def test_other_tools_name_counts_only_where_the_key_exists():
    assert nearest("fp16", ["float32", "bfloat16", "float16"]) == "float16"
    assert nearest("fp16", LIMITS) is None


@pytest.mark.parametrize(
    ("word", "known", "expected"),
    [
        ("fp16", ["float32", "float16"], "float16"),
        ("FP-16", ["float16"], None),
        ("ngram-size", ["max_matching_ngram"], "max_matching_ngram"),
        ("ngram_size", ["window_size"], None),
        ("draft_lenght", ["draft_length"], None),
        ("medusa_choices", ["num_heads", "tree"], "tree"),
        ("", ["tree"], None),
    ],
)
def test_other_name_is_no_matter_of_spelling(word, known, expected):
    assert other_name(word, known) == expected


@pytest.mark.parametrize(
    ("word", "method"),
    [("EAGLE-3", "eagle3"), ("SA", "suffix"), ("UserProvided", "user"), ("MTP", "mtp")],
)
def test_methods_are_known_under_other_names(word, method):
    assert nearest(word, SchemaWords().methods()) == method


@given(st.text())
def test_suggestion_is_always_a_known_word(word):
    assert nearest(word, LIMITS) in [None, *LIMITS]


def test_every_translation_leads_to_a_word_of_the_schema():
    words = SchemaWords()
    sections = [words.root, *words.methods().values()]
    sections += [words.node((key,), {}) for key in words.root["properties"]]
    sections += [words.node(("pytorch", "acceptance_gate"), {})]
    known = set(words.methods())
    for section in sections:
        for key, node in section.get("properties", {}).items():
            known |= {key, *node.get("enum", [])}
    known |= set(keys(TOP_LEVEL, newest_of("main")))  # of pytorch.llm_args
    assert set(_OTHER_NAMES) <= known
