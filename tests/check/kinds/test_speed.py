"""Speculation that cannot pay, and draft lengths that no release follows."""

import pytest

from tests.check.kinds.asking import (
    EAGLE,
    EAGLE3,
    MTP,
    NEWEST,
    NGRAM,
    PAIR,
    ask,
    bad,
    faults,
    good,
    innocents,
    limited,
    on_pytorch,
    passes,
    tells,
)
from trtspec.errors import RecipeError

PARD = {"method": "pard", "model": "./small", "draft_length": 4, "mask_token_id": 9}
GROWN = {**EAGLE, "tree": "dynamic", "dynamic_top_k": 4}


@faults(
    bad(
        "a target that drafts for itself",
        ask({**PAIR, "model": "./llama"}, "1.2.1"),
        "draft-size",
        "warning",
        "1,486.9 million",
        "tenth",
    ),
    bad(
        "a draft larger than its target",
        ask({**PAIR, "model": "./llama"}, "1.2.1", target="small"),
        "draft-size",
        "warning",
        "1,486.9 million",
        "tenth",
    ),
    bad(
        "a batch whose steps do not fit",
        ask(
            EAGLE3,
            "1.2.1",
            sections=limited(max_batch_size=512) | on_pytorch(max_num_tokens=1024),
        ),
        "num-tokens",
        "warning",
        "max_num_tokens 1024",
        "512 requests",
        "2048",
    ),
    bad(
        "parallel drafts count twice",
        ask(
            PARD,
            NEWEST,
            sections=limited(max_batch_size=129) | on_pytorch(max_num_tokens=1024),
        ),
        "num-tokens",
        "warning",
        "129 requests",
        "1032",
        "8 tokens",
    ),
    bad(
        "EAGLE-2 in large batches",
        ask(
            GROWN,
            "1.0.0",
            backend="tensorrt",
            sections=limited(
                max_batch_size=256, max_input_tokens=32, max_total_tokens=64
            ),
        ),
        "known-trouble",
        "warning",
        "EAGLE-2",
        "256",
    ),
    bad(
        "a gate that never opens again",
        ask(
            PAIR,
            "1.2.1",
            sections=on_pytorch(
                acceptance_gate={"window": 64, "min_acceptance_rate": 0.4}
            ),
        ),
        "acceptance-gate",
        "warning",
        "until the server is restarted",
    ),
    bad(
        "a draft of four tenths of its target",
        ask(PAIR, "1.2.1"),
        "draft-size",
        "note",
        "1,486.9 million",
        "tenth",
    ),
)
def test_speculation_that_cannot_pay(place, asked, told):
    """backend #498; vLLM 15025, 21278, 6494; TensorRT-LLM #2506, PR 7283."""
    tells(place.check(**asked), *told)


@innocents(
    good(
        "a draft of a seventieth",
        ask({**PAIR, "model": "./small"}, NEWEST, target="70b"),
    ),
    good(
        "parallel drafts that just fit",
        ask(
            PARD,
            NEWEST,
            target="70b",
            sections=limited(max_batch_size=128, max_input_tokens=32)
            | on_pytorch(max_num_tokens=1024 + 32),
        ),
    ),
    good("EAGLE-2 in small batches", ask(GROWN, "1.0.0", backend="tensorrt")),
)
def test_speculation_that_may_pay(place, asked, rules):
    passes(place.check(**asked), "draft-size", "num-tokens", "known-trouble")


LENGTHS = ("draft-length", "blocking")


@faults(
    bad(
        "more drafts for larger batches",
        ask({**EAGLE3, "draft_length": {4: 2, 8: 4}}, NEWEST),
        *LENGTHS, "{4: 2, 8: 4}", "{4: 4, 8: 4}",
    ),
    bad(
        "a map on a release that has one length",
        ask({**EAGLE3, "draft_length": {4: 4, 8: 2}}, "1.0.0"),
        *LENGTHS, "{4: 4, 8: 2}", "1.0.0", "draft_length: 4",
    ),
    bad(
        "two steps where one is to be had",
        ask({**PAIR, "draft_length": {4: 4, 8: 2}}, "1.1.0"),
        *LENGTHS, "draft_target", "1.1.0", "max_concurrency",
    ),
    bad(
        "a limit that a one-model engine ignores",
        ask({**MTP, "draft_length": {4: 2}}, "1.2.1", target="deepseek"),
        *LENGTHS, "mtp", "1.2.1", "draft_length: 2",
    ),
    bad(
        "a step that no batch reaches",
        ask({**EAGLE3, "draft_length": {4: 4, 8: 2, 64: 1}}, NEWEST),
        "draft-length", "warning", "64 running requests", "max_batch_size 8",
    ),
    bad(
        "a draft as long as the sequence",
        ask(
            {**NGRAM, "draft_length": 64}, NEWEST,
            sections=limited(max_total_tokens=48, max_input_tokens=16),
        ),
        *LENGTHS, "64 tokens", "48 tokens",
    ),
    bad(
        "a gate of the unit that this engine has not",
        ask(
            EAGLE3, "1.2.1",
            sections=on_pytorch(
                acceptance_gate={"window": 64, "min_acceptance_rate": 0.4}
            ),
        ),
        "acceptance-gate", "blocking", "1.2.1", "two_model: true",
    ),
)  # fmt: skip
def test_draft_lengths_by_batch(place, asked, told):
    """TensorRT-LLM PRs 10860, 12262, 7283, 12905, 6232; vLLM 48202."""
    tells(place.check(**asked), *told)


@innocents(
    good(
        "fewer drafts for larger batches",
        ask({**EAGLE3, "draft_length": {4: 4, 8: 2}}, NEWEST),
    ),
    good(
        "one limit where one is to be had",
        ask({**PAIR, "draft_length": {4: 4}}, "1.1.0"),
    ),
    good(
        "one length everywhere",
        ask({**MTP, "draft_length": 1}, "1.0.0", target="deepseek"),
    ),
)
def test_draft_lengths_that_a_release_follows(place, asked, rules):
    passes(place.check(**asked), "draft-length")


@pytest.mark.parametrize(
    ("length", "words"),
    [
        (0, ("draft_length is 0", "method: none")),
        (257, ("257", "above 256")),
        ({8: 0}, ("[8] is 0", "below 1")),
        ({0: 4}, ("key 0", "below 1")),
        ({}, ("empty map",)),
        ("auto", ("auto", "whole number")),
    ],
)
def test_lengths_that_are_none(place, length, words):
    with pytest.raises(RecipeError) as caught:
        place.check({**NGRAM, "draft_length": length}, NEWEST)
    assert all(word in str(caught.value) for word in words), str(caught.value)
