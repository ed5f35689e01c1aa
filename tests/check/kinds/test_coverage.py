"""Methods that a target has no heads, layers or scripts for."""

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
    passes,
    tells,
)


@pytest.fixture(scope="module")
def models(place):
    """Targets that lost their heads, or have other layers, beside published ones."""
    place.put("lost", "llama", num_nextn_predict_layers=1)
    layers = ["linear_attention"] * 36
    place.put("linear", "public", "Qwen/Qwen3-8B", layer_types=layers)
    return place


@faults(
    bad(
        "MTP of a Qwen3 without heads",
        ask(MTP, NEWEST, target="qwen3"),
        "mtp-heads", "blocking", "num_nextn_predict_layers", "another method",
    ),
    bad(
        "MTP of Gemma 3",
        ask(MTP, "1.2.1", target="gemma3"),
        "mtp-heads", "blocking", "num_nextn_predict_layers",
    ),
    bad(
        "one head for each of three positions",
        ask({**MTP, "draft_length": 3, "vanilla": True}, "1.2.1", target="glm"),
        "mtp-heads", "blocking", "draft_length 3", "1 next-token head",
    ),
    bad(
        "heads that a conversion left out",
        ask(MTP, NEWEST, target="lost"),
        "mtp-heads", "blocking", "names 1 next-token head", "none",
    ),
    bad(
        "EAGLE on engines for Mixtral",
        ask(EAGLE, "1.0.0", backend="tensorrt", target="mixtral"),
        "family", "blocking", "mixtral", "eagle", "llama",
    ),
    bad(
        "engines for Gemma 3",
        ask(NGRAM, "1.0.0", backend="tensorrt", target="gemma3"),
        "family", "blocking", "gemma3",
    ),
    bad(
        "a head of Llama with Gemma 2",
        ask(EAGLE3, NEWEST, target="gemma2"),
        "drafter-hidden-size", "blocking", "4096", "3584",
    ),
    bad(
        "layers whose state cannot be cut back",
        ask(NGRAM, target="linear"),
        "layer-types", "blocking", "linear_attention",
    ),
)  # fmt: skip
def test_targets_that_a_method_does_not_have(models, asked, told):
    """TensorRT-LLM #9901, #10313, #13819, #7488; vLLM PR 12755."""
    tells(models.check(**asked), *told)


@innocents(
    good("MTP of DeepSeek", ask(MTP, "1.2.1", target="deepseek"), "mtp-heads"),
    good("MTP of GLM", ask(MTP, NEWEST, target="glm"), "mtp-heads"),
    good(
        "one head, applied three times",
        ask({**MTP, "draft_length": 3}, "1.2.1", target="glm"),
    ),
    good("n-gram of any family", ask(NGRAM, NEWEST, target="gemma3")),
    good(
        "a draft model of any family",
        ask({**PAIR, "model": "./gemma3"}, NEWEST, target="gemma3"),
    ),
)
def test_targets_that_a_method_has(models, asked, rules):
    passes(models.check(**asked), "family", "layer-types", *rules)
