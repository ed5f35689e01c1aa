"""What makes acceptance low without a word, as far as files and keys tell."""

import pytest

from tests.check.kinds.asking import (
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
    on_pytorch,
    passes,
    tells,
)

PARD = {"method": "pard", "model": "./small", "draft_length": 4}
DFLASH = {"method": "dflash", "model": "./dflash-of-qwen3", "draft_length": 8}


@pytest.fixture(scope="module")
def models(place):
    """A head of our own beside published targets and drafters."""
    place.put("wide", "eagle3", width=8192, drafted=32000, config={"hidden_size": 8192})
    return place


@faults(
    bad(
        "a schedule that ends below the batch",
        ask({**EAGLE3, "draft_length": {2: 5, 6: 3}}, NEWEST),
        "draft-length", "warning", "above 6 running requests", "max_batch_size is 8",
        "{2: 5, 6: 3, 8: 1}",
    ),
    bad(
        "a head finds no prompt again in the cache",
        ask(EAGLE3, "1.3.0rc22"),
        "combination-weakness", "note", "0.19 to 0.03", "block_reuse: false",
    ),
    bad(
        "parallel drafts for a token that nobody names",
        ask(PARD, NEWEST),
        "mask-token", "warning", "pard_token", "mask_token_id",
    ),
    bad(
        "a block drafter beyond its block",
        ask({**DFLASH, "draft_length": 24}, NEWEST, target="qwen3"),
        "drafter-block", "warning", "draft_length 24", "15 tokens",
    ),
    bad(
        "one head for eight tokens",
        ask({**MTP, "draft_length": 8}, NEWEST, target="deepseek"),
        "mtp-heads", "note", "one next-token head", "8 times",
    ),
    bad(
        "heads quantized with the rest",
        ask(MTP, "1.2.1", target="deepseek"),
        "draft-precision", "note", "fp8", "no draft at all",
    ),
    bad(
        "a head of the unquantized target",
        ask({**EAGLE3, "model": "./wide"}, "1.2.1", target="fp8"),
        "draft-precision", "note", "fp8 weights", "bfloat16",
    ),
    bad(
        "a head that captures too few layers",
        ask({**EAGLE3, "layers_to_capture": [0, 1]}, "1.2.1"),
        "eagle3-head", "blocking", "names 2 layers", "3",
    ),
    bad(
        "a head of another model's tokens",
        ask(EAGLE3, NEWEST, target="qwen3"),
        "drafter-vocabulary", "warning", "128256", "151936", "hardly a draft",
    ),
)  # fmt: skip
def test_what_costs_acceptance_is_told(models, asked, told):
    """TensorRT-LLM PRs 18280, 16888; vLLM 9534; llm-compressor 1843; ascend 9290."""
    tells(models.check(**asked), *told)


@innocents(
    good(
        "a schedule down to one", ask({**EAGLE3, "draft_length": {2: 5, 8: 1}}, NEWEST)
    ),
    good(
        "a mask token of the recipe's", ask({**PARD, "mask_token_id": 128011}, NEWEST)
    ),
    good(
        "a block drafter within its block",
        ask({**DFLASH, "draft_length": 15}, NEWEST, target="qwen3"),
    ),
    good("a plain target and head", ask(EAGLE3, "1.2.1"), "draft-precision"),
    good(
        "n-gram on a quantized target",
        ask(NGRAM, "1.2.1", target="fp8"),
        "draft-precision",
    ),
    good(
        "no reuse, no stale cache",
        ask(EAGLE3, "1.3.0rc22", sections=on_pytorch(block_reuse=False)),
    ),
    good("a pair of one family", ask(PAIR, "1.2.1")),
)
def test_what_costs_nothing_is_silent(models, asked, rules):
    quiet = ("draft-length", "mask-token", "drafter-block", "drafter-vocabulary")
    passes(models.check(**asked), *quiet, "combination-weakness", *rules)
