"""Memory that both models share, and sequences longer than they were made for."""

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
    limited,
    on_pytorch,
    passes,
    tells,
)

ONE_B = {**PAIR, "model": "./1b"}
HEAD = {**EAGLE3, "model": "./head-of-8b"}
LONG = limited(max_total_tokens=16384, max_input_tokens=8192)
HOST = on_pytorch(llm_args={"kv_cache_config": {"host_cache_size": 1 << 34}})


@pytest.fixture(scope="module")
def models(place):
    """Drafters of short contexts beside published models of real sizes."""
    place.put("head-of-2k", "eagle3", config={"max_position_embeddings": 2048})
    place.put("draft-of-2k", "small", max_position_embeddings=2048)
    return place


def shared(size, model):
    return {"model": f"./{model}", "tensor_parallel": size}


@faults(
    bad(
        "70B on one GPU of 80 GB",
        ask(NGRAM, "1.2.1", target="70b", gpu="h100"),
        "memory", "blocking", "131.42 GiB", "79.65 GiB", "tensor_parallel 2",
    ),
    bad(
        "a pair of 8B on 24 GB, each of which fits",
        ask({**PAIR, "model": "./8b"}, "1.2.1", target="8b", gpu="l4"),
        "memory", "blocking", "14.96 GiB", "draft model", "22.49 GiB",
    ),
    bad(
        "the draft's cache takes the last long request",
        ask(
            {**PAIR, "model": "./8b"}, "1.2.1",
            target=shared(2, "70b"), gpu="h100x2",
            sections=limited(max_total_tokens=32768, max_batch_size=16),
        ),
        "memory", "blocking", "not one request of 32,772 tokens", "FP8 KV cache",
    ),
    bad(
        "speculation cuts the batch that fits",
        ask(
            ONE_B, "1.2.1", target="8b", gpu="l4",
            sections=limited(max_batch_size=64),
        ),
        "memory-limits", "warning", "max_batch_size 64", "without speculation",
    ),
    bad(
        "host memory pinned for the draft's cache too",
        ask(ONE_B, "1.2.1", target="8b", gpu="h100", sections=HOST),
        "memory-host", "warning", str(1 << 34), "draft model",
    ),
    bad(
        "a head on a card that holds one long request",
        ask(
            HEAD, "1.2.1", target="8b", gpu="l4",
            sections=limited(max_total_tokens=24576, max_input_tokens=8192),
        ),
        "memory-batch", "warning", "24,579", "FP8 KV cache",
    ),
)  # fmt: skip
def test_memory_that_does_not_suffice(models, asked, told):
    """vLLM 9995, 8073, 22624; TensorRT-LLM PRs 3497, 12756; SGLang 6875, 34290."""
    tells(models.check(**asked), *told)


@innocents(
    good("8B and 1B on 80 GB", ask(ONE_B, "1.2.1", target="8b", gpu="h100")),
    good("8B and a head on 24 GB", ask(HEAD, "1.2.1", target="8b", gpu="l4")),
    good(
        "70B on four of 80 GB",
        ask(NGRAM, "1.2.1", target=shared(4, "70b"), gpu="h100x4"),
    ),
    good(
        "host memory of n-gram",
        ask(NGRAM, "1.2.1", target="8b", gpu="h100", sections=HOST),
    ),
)
def test_memory_that_suffices(models, asked, rules):
    found = models.check(**asked)
    passes(found, "memory", "memory-batch", "memory-limits", "memory-host")
    (plan,) = [finding for finding in found if finding.rule == "memory-plan"]
    assert plan.values["tokens"] > 0


@faults(
    bad(
        "a head made for 2048",
        ask({**EAGLE3, "model": "./head-of-2k"}, "1.2.1", sections=LONG),
        "drafter-context", "warning", "16384", "2048", "eagle3",
    ),
    bad(
        "a draft model made for 2048",
        ask({**PAIR, "model": "./draft-of-2k"}, "1.2.1", sections=LONG),
        "context-length", "blocking", "16384", "2048", "draft model",
    ),
    bad(
        "drafts counted on top of the whole context",
        ask(EAGLE3, "1.2.1", sections=limited(max_total_tokens=131072)),
        "context", "warning", "131072", "draft tokens", "1.2.1",
    ),
    bad(
        "one token beyond the target",
        ask(EAGLE3, NEWEST, sections=limited(max_total_tokens=131073)),
        "context-length", "blocking", "131073", "131072", "target",
    ),
    bad(
        "a request longer than all there is",
        ask(NGRAM, NEWEST, requests=[{}, {"max_tokens": 4096}]),
        "request-length", "warning", "max_tokens 4096", "2048",
    ),
    bad(
        "a budget below the longest prompt",
        ask(NGRAM, NEWEST, sections=on_pytorch(max_num_tokens=512)),
        "num-tokens", "blocking", "max_num_tokens 512", "1024", "chunked_prefill",
    ),
)  # fmt: skip
def test_sequences_that_are_too_long(models, asked, told):
    """SGLang 6783; speculators PR 684; lorax 474; TensorRT-LLM #16826; vLLM 8159."""
    tells(models.check(**asked), *told)


@innocents(
    good(
        "a short head for short sequences",
        ask({**EAGLE3, "model": "./head-of-2k"}, "1.2.1"),
    ),
    good("the draft's own length", ask({**PAIR, "model": "./draft-of-2k"}, "1.2.1")),
    good(
        "room for the drafts",
        ask(EAGLE3, "1.2.1", sections=limited(max_total_tokens=131063)),
    ),
    good(
        "all of the context where drafts are not on top",
        ask(EAGLE3, NEWEST, sections=limited(max_total_tokens=131072)),
    ),
    good(
        "a request of just that length",
        ask(NGRAM, NEWEST, requests=[{"max_tokens": 1024}]),
    ),
    good(
        "MTP, whose heads are the target's",
        ask(MTP, "1.2.1", target="deepseek", sections=LONG),
    ),
)
def test_sequences_that_fit(models, asked, rules):
    lengths = ("drafter-context", "context-length", "context", "request-length")
    passes(models.check(**asked), *lengths, *rules)
