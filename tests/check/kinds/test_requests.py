"""What requests ask for: sampling fields, streams, logprobs."""

from tests.check.kinds.asking import (
    EAGLE3,
    MEDUSA,
    MTP,
    NEWEST,
    NGRAM,
    NONE,
    PAIR,
    SUFFIX,
    ask,
    bad,
    faults,
    good,
    innocents,
    on_engines,
    on_pytorch,
    passes,
    tells,
)

REFUSED = ("request-refused", "blocking")
IGNORED = ("request-ignored", "warning")
OPT_IN = ("request-opt-in", "blocking")
PENALTIES = on_pytorch(penalties=True)
WARM = {"sampling": {"temperature": 1.1}}


@faults(
    bad(
        "a seed that 1.0 drops",
        ask(EAGLE3, "1.0.0", requests=[{"seed": 7}]),
        *IGNORED, "seed 7", "1.0.0", "greedily",
    ),
    bad(
        "a seed of which 1.2 says nothing",
        ask(EAGLE3, "1.2.1", requests=[{"seed": 11}, {"seed": 12}]),
        *IGNORED, "seed 11", "2 requests", "1.2.1", "not established",
    ),
    bad(
        "a penalty without the opt-in",
        ask(EAGLE3, NEWEST, requests=[{"presence_penalty": 0.5}]),
        *OPT_IN, "presence_penalty 0.5", "penalties: true",
    ),
    bad(
        "the opt-in on a release that has none",
        ask(EAGLE3, "1.2.1", sections=PENALTIES),
        "penalties", "blocking", "1.2.1", "eagle3",
    ),
    bad(
        "a least length that the newest refuses",
        ask(EAGLE3, NEWEST, requests=[{"min_tokens": 5}]),
        *REFUSED, "min_tokens 5", NEWEST,
    ),
    bad(
        "a penalty that 1.2 drops with drafts and without",
        ask(NGRAM, "1.2.1", requests=[{"frequency_penalty": 0.25}]),
        *IGNORED, "frequency_penalty 0.25", "drops it silently",
    ),
    bad(
        "a field that no release has",
        ask(EAGLE3, "1.2.1", requests=[{"no_repeat_ngram_size": 3}]),
        *REFUSED, "no_repeat_ngram_size 3", "no such field",
    ),
    bad(
        "another temperature than is measured",
        ask(EAGLE3, NEWEST, requests=[{"temperature": 1.1}, {}]),
        "request-sampling", "warning", "temperature 1.1", "temperature 0",
    ),
    bad(
        "several answers to one prompt",
        ask(EAGLE3, NEWEST, requests=[{"n": 4}]),
        *IGNORED, "n 4", "not established",
    ),
    bad(
        "more tokens of the vocabulary than the runtime goes by",
        ask(
            PAIR, "1.2.1", backend="tensorrt",
            sections={"sampling": {"top_k": 2000}},
        ),
        "top-k", "blocking", "top_k 2000", "1024",
    ),
)  # fmt: skip
def test_sampling(place, asked, told):
    """TensorRT-LLM PRs 17701, 17955, 17599, 15775; vLLM 6038, 42744; SGLang 33643."""
    tells(place.check(**asked), *told)


@innocents(
    good(
        "penalties that the engine was told of",
        ask(EAGLE3, NEWEST, requests=[{"presence_penalty": 0.5}], sections=PENALTIES),
        "request-opt-in",
        "request-ignored",
    ),
    good(
        "a seed on the newest",
        ask(EAGLE3, NEWEST, requests=[{"seed": 7}]),
        "request-ignored",
    ),
    good(
        "the recipe's own temperature",
        ask(EAGLE3, NEWEST, requests=[{"temperature": 1.1}], sections=WARM),
        "request-sampling",
    ),
    good(
        "the largest top-k",
        ask(
            PAIR,
            "1.2.1",
            backend="tensorrt",
            sections={"sampling": {"top_k": 1024}},
        ),
        "top-k",
    ),
)
def test_sampling_that_is_honoured(place, asked, rules):
    passes(place.check(**asked), *rules)


USAGE = {"stream_options": {"include_usage": True}}
FITTING = {**EAGLE3, "model": "./head-of-gpt-oss"}


@faults(
    bad(
        "EAGLE-3 on gpt-oss",
        ask(FITTING, NEWEST, target="gpt-oss", requests=[{"stream": True}]),
        "request-stream", "warning", "eagle3", "gpt_oss", "end token",
    ),
    bad(
        "n-gram on gpt-oss, in one request of three",
        ask(NGRAM, "1.2.1", target="gpt-oss", requests=[{}, {"stream": True}, {}]),
        "request-stream", "warning", "ngram", "1 request", "gpt_oss",
    ),
    bad(
        "the suffix automaton on gpt-oss",
        ask(SUFFIX, NEWEST, target="gpt-oss", requests=[{"stream": True}] * 2),
        "request-stream", "warning", "suffix", "2 requests",
    ),
    bad(
        "options of a stream without one",
        ask(EAGLE3, NEWEST, requests=[USAGE]),
        *REFUSED, "stream_options", "include_usage", "stream: true",
    ),
    bad(
        "stop tokens that the legacy engines' runner has not",
        ask(PAIR, "1.2.1", backend="tensorrt", requests=[{"stop_token_ids": [5]}]),
        *IGNORED, "stop_token_ids [5]", "tensorrt",
    ),
)  # fmt: skip
def test_streams_and_their_ends(place, asked, told):
    """TensorRT-LLM PRs 11488, 10854, #3753; vLLM PRs 47616, 45678; exllamav2 108."""
    tells(place.check(**asked), *told)


@innocents(
    good(
        "a stream of Llama with stop words",
        ask(EAGLE3, NEWEST, requests=[{"stream": True, "stop": ["\n\n", "END"]}]),
        "request-stream",
        "request-ignored",
    ),
    good(
        "gpt-oss in one piece",
        ask(NGRAM, NEWEST, target="gpt-oss", requests=[{"stop": ["END"]}]),
        "request-stream",
    ),
    good(
        "gpt-oss streams without drafts",
        ask(NONE, NEWEST, target="gpt-oss", requests=[{"stream": True}]),
        "request-stream",
    ),
    good(
        "options beside their stream",
        ask(EAGLE3, NEWEST, requests=[{"stream": True, **USAGE}]),
        "request-refused",
    ),
)
def test_streams_that_are_whole(place, asked, rules):
    passes(place.check(**asked), *rules)


@faults(
    bad(
        "EAGLE-3 on the newest",
        ask(EAGLE3, NEWEST, requests=[{"logprobs": 3}]),
        *REFUSED, "logprobs 3", NEWEST, "method: none",
    ),
    bad(
        "n-gram, of which nothing is known",
        ask(NGRAM, "1.2.1", requests=[{"logprobs": True, "top_logprobs": 5}]),
        *IGNORED, "logprobs true", "ngram", "not established",
    ),
    bad(
        "of the prompt, on a server without",
        ask(EAGLE3, "1.1.0", requests=[{"prompt_logprobs": 2}]),
        *REFUSED, "prompt_logprobs 2", "1.1.0",
    ),
    bad(
        "logits of a server with MTP",
        ask(
            MTP, "1.2.1", target="deepseek",
            sections=on_pytorch(llm_args={"gather_generation_logits": True}),
        ),
        "combination-broken", "blocking", "gather_generation_logits", "mtp", "18401",
    ),
    bad(
        "an engine that gathers all logits",
        ask(
            PAIR, "1.2.1", backend="tensorrt",
            sections=on_engines(build_flags={"gather_all_token_logits": True}),
        ),
        "build-flags", "blocking", "gather_all_token_logits",
    ),
    bad(
        "requests to an engine of Medusa",
        ask(MEDUSA, "1.2.1", backend="tensorrt", requests=[{"logprobs": 1}]),
        *IGNORED, "logprobs 1", "tensorrt",
    ),
)  # fmt: skip
def test_logprobs(place, asked, told):
    """TensorRT-LLM PRs 12546, 18401; vLLM 34497, 17876, 18908; llama.cpp 27972."""
    tells(place.check(**asked), *told)


@innocents(
    good("not asked for", ask(EAGLE3, NEWEST, requests=[{"logprobs": False}])),
    good("left empty", ask(EAGLE3, NEWEST, requests=[{"logprobs": None}])),
    good("without speculation", ask(NONE, NEWEST, requests=[{"logprobs": 3}])),
)
def test_logprobs_that_are_fine(place, asked, rules):
    passes(place.check(**asked), "request-ignored", "request-refused")
