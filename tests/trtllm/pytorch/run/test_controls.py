"""What a release would drop or reject is refused, with what it does and what to do."""

from __future__ import annotations

import pytest
from packaging.version import Version

from tests.standins.llm.sampling import DEFAULTS
from tests.trtllm.pytorch.run.fakes import recipe
from trtspec.trtllm.pytorch.run.control_names import ALL, KINDS, PENALTIES
from trtspec.trtllm.pytorch.run.controls import refusals, unhonoured
from trtspec.trtllm.pytorch.run.reach import Reach

VERSIONS = ["1.0.0", "1.1.0", "1.2.1", "1.4.0rc4"]
EXAMPLES = {
    "min_tokens": 3,
    "bad": ["no"],
    "bad_token_ids": [4],
    "no_repeat_ngram_size": 2,
    "min_p": 0.1,
    "top_p_decay": 0.9,
    "top_p_min": 0.1,
    "top_p_reset_ids": 3,
    "repetition_penalty": 1.1,
    "presence_penalty": 0.5,
    "frequency_penalty": -0.5,
    "prompt_ignore_length": 4,
    "thinking_token_budget": 100,
    "stop_token_ids": [7],
}
LATER = {"prompt_ignore_length": "1.2", "thinking_token_budget": "1.3.0rc27"}
DROPPED = ["min_tokens", "bad", "bad_token_ids", "no_repeat_ngram_size", "top_p_decay"]


def refused(name, value, method="none", version="1.2.1", *, http=False, **options):
    of = recipe(method, **options)
    reach = Reach.of(of, Version(version), over_http=http)
    found = refusals({name: value}, reach, "request r")
    assert all(p.where == "request r" for p in found)
    return " | ".join(str(p) for p in found)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_without_speculation_every_control_passes_that_the_release_has(name, version):
    found = refused(name, EXAMPLES[name], version=version)
    if Version(version) < Version(LATER.get(name, "1.0")):
        assert f"TensorRT-LLM {version} has no {name}" in found
    elif name in PENALTIES and version != "1.4.0rc4":
        assert f"TensorRT-LLM {version} drops it silently on backend pytorch" in found
    else:
        assert found == ""


@pytest.mark.parametrize("name", [*DROPPED, "min_p"])
def test_one_model_speculation_drops_them_and_the_newest_reject_them(name):
    early = refused(name, EXAMPLES[name], "eagle3", "1.2.1")
    assert f"{name} with eagle3: TensorRT-LLM 1.2.1 drops it silently" in early
    assert "do: build the same recipe with speculation: {method: none}" in early
    late = refused(name, EXAMPLES[name], "mtp", "1.4.0rc4")
    assert f"{name} with mtp: TensorRT-LLM 1.4.0rc4 rejects it" in late


@pytest.mark.parametrize("method", ["ngram", "user", "draft_target"])
@pytest.mark.parametrize("name", ["min_tokens", "min_p", "top_p_reset_ids"])
def test_what_no_source_settles_is_refused_as_not_established(method, name):
    assert "not established" in refused(name, EXAMPLES[name], method)


def test_the_newest_releases_honour_them_where_drafts_come_from_no_model():
    assert refused("min_tokens", 3, "ngram", "1.4.0rc4") == ""
    assert "rejects it" in refused("top_p_decay", 0.9, "ngram", "1.4.0rc4")


@pytest.mark.parametrize("name", PENALTIES)
def test_penalties_need_a_release_and_a_recipe_that_apply_them(name):
    value, told = EXAMPLES[name], {"pytorch": {"penalties": True}}
    for options in ({}, told):
        assert "drops it silently" in refused(name, value, "mtp", "1.2.1", **options)
    assert "pytorch.penalties: true" in refused(name, value, "eagle3", "1.4.0rc4")
    assert refused(name, value, "eagle3", "1.4.0rc4", **told) == ""
    assert refused(name, value, "ngram", "1.4.0rc4") == ""


@pytest.mark.parametrize("name", PENALTIES)
@pytest.mark.parametrize("version", ["1.0.0", "1.1.0", "1.2.1"])
@pytest.mark.parametrize(
    ("method", "key"),
    [("none", False), ("ngram", False), ("eagle3", True)],
)
def test_advice_leads_to_a_release_that_honours_what_this_one_always_drops(
    name, version, method, key
):
    found = refused(name, EXAMPLES[name], method, version)
    assert "method: none" not in found
    assert "build the recipe for TensorRT-LLM 1.4.0rc4" in found
    assert ("pytorch.penalties: true" in found) is key
    told = {"pytorch": {"penalties": True}} if key else {}
    assert refused(name, EXAMPLES[name], method, "1.4.0rc4", **told) == ""


@pytest.mark.parametrize("name", ["logprobs", "logits_processor", "embedding_bias"])
def test_no_advice_leads_to_another_refusal(name):
    (drafting,) = advice(name, "eagle3")
    assert drafting == advice(name, "none")[0]


def advice(name, method):
    reach = Reach.of(recipe(method), Version("1.2.1"))
    return [problem.action for problem in refusals({name: 1}, reach, "request r")]


def test_own_stop_tokens_pass_under_speculation():
    assert refused("stop_token_ids", [7], "eagle3") == ""


@pytest.mark.parametrize(
    ("method", "version", "works"),
    [
        ("none", "1.0.0", True),
        ("eagle3", "1.0.0", False),
        ("draft_target", "1.1.0", True),
        ("eagle3", "1.1.0", False),
        ("eagle3", "1.2.1", True),
        ("draft_target", "1.2.1", True),
        ("ngram", "1.2.1", False),
        ("eagle3", "1.4.0rc4", True),
    ],
)
def test_guided_decoding_goes_by_release_and_engine(method, version, works):
    guided = {"pytorch": {"guided_decoding": "xgrammar"}}
    guide = {"json_object": True}
    found = refused("guided_decoding", guide, method, version, **guided)
    assert (found == "") is works
    without = refused("guided_decoding", guide, method, version)
    assert ("built without" in without) is works


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("n", "one output"),
        ("best_of", "one output"),
        ("use_beam_search", "one output"),
        ("logprobs", "tokens and text"),
        ("prompt_logprobs", "tokens and text"),
        ("logits_processor", "Python object"),
        ("embedding_bias", "Python object"),
        ("max_tokens", "--max-tokens"),
        ("temperature", "--temperature"),
        ("seed", "--seed"),
    ],
)
def test_what_a_result_or_an_option_has_no_place_for_is_refused(name, words):
    assert words in refused(name, 1)


def test_under_speculation_the_releases_own_reason_comes_first():
    assert "in part or not at all" in refused("logprobs", 1, "eagle3")
    assert "matrices say no" in refused("logits_processor", 1, "eagle3")


@pytest.mark.parametrize(
    ("name", "meant"),
    [("min_token", "min_tokens"), ("repetition_penality", "repetition_penalty")],
)
def test_an_unknown_name_is_refused_with_the_nearest(name, meant):
    found = refused(name, 1)
    assert f"no sampling control {name!r}" in found
    assert f"did you mean {meant}?" in found


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min_tokens", 1.5),
        ("min_tokens", True),
        ("min_tokens", 0),
        ("min_p", "much"),
        ("min_p", 2),
        ("bad", "word"),
        ("bad", []),
        ("bad_token_ids", [1.0]),
        ("stop_token_ids", [-1]),
        ("guided_decoding", "json"),
        ("guided_decoding", {"json_object": True, "regex": "a"}),
        ("guided_decoding", {"jsonschema": "x"}),
        ("guided_decoding", {"regex": 4}),
    ],
)
def test_a_value_of_another_kind_is_refused_with_what_is_allowed(name, value):
    found = refused(name, value, pytorch={"guided_decoding": "xgrammar"})
    assert f"{name} is {value!r}" in found
    assert KINDS[name].words in found


@pytest.mark.parametrize("name", ["bad", "no_repeat_ngram_size", "top_p_decay"])
def test_a_server_takes_fewer_controls(name):
    found = refused(name, EXAMPLES[name], http=True)
    assert f"trtllm-serve takes no {name}" in found
    assert "--url" in found
    assert refused("min_tokens", 3, http=True) == ""


def test_every_problem_is_told_at_once():
    reach = Reach.of(recipe(), Version("1.2.1"))
    found = refusals({"n": 2, "nope": 1, "min_p": "x", "min_tokens": 2}, reach, "r")
    assert len(found) == 3


def test_every_field_of_sampling_params_has_one_place():
    assert len(set(ALL)) == len(ALL)
    assert set(DEFAULTS) <= set(ALL)


@pytest.mark.parametrize(
    ("method", "version", "said"),
    [
        ("eagle3", "1.2.1", "min_tokens, repetition_penalty, presence_penalty, "),
        ("eagle3", "1.2.1", "TensorRT-LLM 1.2.1 drops it silently under speculation"),
        ("eagle3", "1.4.0rc4", "TensorRT-LLM 1.4.0rc4 rejects it under speculation"),
        ("ngram", "1.2.1", "whether TensorRT-LLM 1.2.1 honours it under speculation"),
        ("none", "1.2.1", "frequency_penalty: TensorRT-LLM 1.2.1 drops it silently"),
    ],
)
def test_a_server_is_known_to_ignore_what_requests_are_refused_for(
    method, version, said
):
    assert said in " | ".join(unhonoured(recipe(method), Version(version)))


@pytest.mark.parametrize("method", ["none", "eagle3", "ngram"])
@pytest.mark.parametrize("version", VERSIONS)
def test_each_such_control_is_one_that_a_request_over_http_is_refused(method, version):
    of = recipe(method)
    reach = Reach.of(of, Version(version), over_http=True)
    for line in unhonoured(of, Version(version)):
        names = line.partition(":")[0].partition(" with ")[0].split(", ")
        for name in names:
            assert name in reach.served
            value = EXAMPLES.get(name, 1)
            assert refusals({name: value}, reach, "request r"), name


def test_nothing_is_ignored_where_nothing_is_drafted_in_the_newest_release():
    assert unhonoured(recipe("none"), Version("1.4.0rc4")) == ()
