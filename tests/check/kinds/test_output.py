"""Output that would no longer be the target model's."""

import pytest

from tests.check.kinds.asking import (
    EAGLE3,
    MEDUSA,
    MTP,
    NEWEST,
    NGRAM,
    NONE,
    ask,
    bad,
    faults,
    good,
    innocents,
    passes,
    tells,
)

WARM = {"sampling": {"temperature": 0.7}}
ENGINES = {"version": "1.2.1", "backend": "tensorrt"}
LOSSLESS = ("lossless", "blocking")
RELAXED = {"acceptance": "relaxed", "relaxed_top_k": 10, "relaxed_delta": 0.6}


@faults(
    bad(
        "n-gram on engines, sampled",
        ask(NGRAM, **ENGINES, sections=WARM),
        *LOSSLESS, "ngram", "tensorrt", "0.7", "p(2-p)",
    ),
    bad(
        "EAGLE-3 on 1.0, sampled",
        ask(EAGLE3, "1.0.0", sections=WARM),
        *LOSSLESS, "eagle3", "0.7", "sampling.temperature to 0",
    ),
    bad(
        "Medusa on engines, sampled",
        ask(MEDUSA, **ENGINES, sections=WARM),
        *LOSSLESS, "medusa", "0.7", "ignores temperature",
    ),
    bad(
        "lookahead, sampled",
        ask({"method": "lookahead"}, **ENGINES, sections=WARM),
        *LOSSLESS, "lookahead", "greedily",
    ),
    bad(
        "relaxed acceptance, though greedy",
        ask({**MTP, **RELAXED}, "1.2.1", target="deepseek"),
        "lossless", "warning", "lossy", "mtp", "relaxed",
    ),
    bad(
        "lossy as the recipe allows",
        ask({**NGRAM, "allow_lossy": True}, **ENGINES, sections=WARM),
        "lossless", "warning", "lossy", "ngram",
    ),
    bad(
        "windows of gpt-oss under EAGLE-3",
        ask({**EAGLE3, "model": "./head-of-gpt-oss"}, "1.2.1", target="gpt-oss"),
        "combination-untested", "note", "128 tokens", "sliding-window",
    ),
)  # fmt: skip
def test_output_that_would_not_be_the_targets(place, asked, told):
    """TensorRT-LLM #8713, #8615, #11125, #1795; transformers 47932; vLLM 7627."""
    finding = tells(place.check(**asked), *told)
    assert finding.action or not finding.blocks


@pytest.mark.parametrize(
    ("gpu", "version", "capability"),
    [("rtx pro 6000", "1.2.0rc8", "12.0"), ("rtx 5090", "1.2.0rc1", "12.0")],
)
def test_bad_text_on_a_generation_of_gpus_blocks(place, gpu, version, capability):
    """TensorRT-LLM #11125, #8615."""
    found = place.check(EAGLE3, version, gpu=gpu)
    named = [f for f in found if f.values.get("feature") == "compute_capability"]
    (finding,) = [f for f in named if f.severity == "blocking"]
    assert f"compute capability {capability}" in finding.what
    assert version in finding.what
    assert "bad text" in finding.why
    assert "ngram" in finding.action


@innocents(
    good("n-gram on engines, greedy", ask(NGRAM, **ENGINES)),
    good("EAGLE-3 on the newest, sampled", ask(EAGLE3, NEWEST, sections=WARM)),
    good("plain decoding, sampled", ask(NONE, **ENGINES, sections=WARM)),
    good("EAGLE-3 on a data center's GPU", ask(EAGLE3, "1.2.1", gpu="h100")),
    good("any chain of the embedded engine, sampled", ask(NGRAM, sections=WARM)),
)
def test_output_that_is_the_targets(place, asked, rules):
    passes(place.check(**asked), "lossless", "combination-broken")
