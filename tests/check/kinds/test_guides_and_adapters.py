"""Guided decoding and LoRA beside speculation."""

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

BROKEN = ("combination-broken", "blocking")
REFUSED = ("combination-refused", "blocking")
UNTESTED = ("combination-untested", "warning")
UNKNOWN = ("combination-unknown", "warning")
DEEPSEEK = "deepseek"
ADAPTER = {"lora_request": {"lora_name": "a", "lora_int_id": 1}}


GUIDE = on_pytorch(guided_decoding="xgrammar")
JSON = {"response_format": {"type": "json_object"}}
GROWN = {**EAGLE3, "tree": "dynamic", "tree_top_k": 4, "tree_tokens": 8}


@faults(
    bad(
        "on a release without it",
        ask(NGRAM, "1.0.0", sections=GUIDE),
        "guided-decoding", "blocking", "1.0.0", "ngram", "1.1",
    ),
    bad(
        "with drafts inside the engine on 1.1",
        ask(MTP, "1.1.0", target=DEEPSEEK, sections=GUIDE),
        "guided-decoding", "blocking", "1.1", "mtp",
    ),
    bad(
        "three tokens of MTP, drafts behind the first unmasked",
        ask({**MTP, "draft_length": 3}, "1.2.0", target=DEEPSEEK, sections=GUIDE),
        *UNTESTED, "grammar", "draft_length: 1",
    ),
    bad(
        "a schedule that reaches zero",
        ask({**EAGLE3, "draft_length": {2: 3}}, "1.3.0rc12", sections=GUIDE),
        *BROKEN, "guided decoding", "reaches 0", "15023",
    ),
    bad(
        "a request with a schema, an engine without a guide",
        ask(EAGLE3, "1.2.1", requests=[{}, JSON]),
        "request-opt-in", "blocking", "response_format", "guided_decoding: xgrammar",
    ),
    bad(
        "another server's name for a schema",
        ask(NGRAM, NEWEST, requests=[{"guided_json": {"type": "object"}}]),
        "request-refused", "blocking", "guided_json", "response_format",
    ),
    bad(
        "a schema that an engine of the legacy backend drops",
        ask(MEDUSA, "1.2.1", backend="tensorrt", requests=[JSON]),
        "request-ignored", "warning", "response_format", "tensorrt",
    ),
)  # fmt: skip
def test_guided_decoding(place, asked, told):
    """TensorRT-LLM #7006, #7878, #15022; lmdeploy PR 4559; dynamo #10411."""
    tells(place.check(**asked), *told)


@faults(
    bad("a dynamic tree leaves the grammar", ask(GROWN, NEWEST, sections=GUIDE), "tree")
)
def test_a_tree_under_a_grammar_blocks(place, asked, told):
    found = place.check(**asked)
    (finding,) = [f for f in found if f.values.get("feature") == "guided_decoding"]
    assert finding.severity == "blocking"
    assert "outside the grammar" in finding.why
    assert finding.action == "delete tree, to draft a chain"


@innocents(
    good(
        "one token of MTP on 1.2",
        ask(MTP, "1.2.0", target=DEEPSEEK, sections=GUIDE),
        "guided-decoding",
        "combination-untested",
    ),
    good(
        "a schema that the engine was told of",
        ask(EAGLE3, "1.2.1", requests=[JSON], sections=GUIDE),
        "guided-decoding",
        "request-opt-in",
        "combination-untested",
    ),
    good(
        "a guide without speculation on 1.0",
        ask(NONE, "1.0.0", sections=GUIDE),
        "guided-decoding",
    ),
)
def test_guided_decoding_that_works(place, asked, rules):
    passes(place.check(**asked), *rules)


ADAPTERS = on_pytorch(llm_args={"enable_lora": True})
NO_GRAPHS = on_pytorch(llm_args={"enable_lora": True}, cuda_graphs=False)


@faults(
    bad(
        "with n-gram on 1.2",
        ask(NGRAM, "1.2.1", sections=NO_GRAPHS),
        *BROKEN, "ngram", "LoRA", "shape error", "12661",
    ),
    bad(
        "with CUDA graphs on 1.2",
        ask(
            EAGLE3, "1.2.1",
            sections=on_pytorch(llm_args={"lora_config": {"max_lora_rank": 8}}),
        ),
        *REFUSED, "LoRA and CUDA graphs", "cuda_graphs: false",
    ),
    bad(
        "with EAGLE-3 on the newest",
        ask(EAGLE3, NEWEST, sections=ADAPTERS),
        *UNTESTED, "eagle3", "LoRA", "parity test",
    ),
    bad(
        "asked for by a request alone",
        ask(PAIR, NEWEST, requests=[{}, ADAPTER]),
        *UNTESTED, "draft_target", "LoRA", "lora_request",
    ),
    bad(
        "on engines",
        ask(
            MEDUSA, "1.0.0", backend="tensorrt",
            sections=on_engines(build_flags={"lora_plugin": "auto"}),
        ),
        *UNKNOWN, "medusa", "LoRA",
    ),
    bad(
        "on a release that nobody has read",
        ask(SUFFIX, "1.9.0", sections=ADAPTERS),
        *UNKNOWN, "suffix", "LoRA", "1.9.0",
    ),
)  # fmt: skip
def test_lora(place, asked, told):
    """TensorRT-LLM #12617; vLLM 4872, 20284; SGLang PR 12903."""
    tells(place.check(**asked), *told)


@innocents(
    good("without speculation", ask(NONE, "1.2.1", sections=ADAPTERS)),
    good(
        "switched off",
        ask(NGRAM, "1.2.1", sections=on_pytorch(llm_args={"enable_lora": False})),
    ),
)
def test_lora_that_is_no_matter(place, asked, rules):
    found = place.check(**asked)
    passes(found, *rules)
    assert not [f for f in found if f.values.get("feature") == "lora"]
