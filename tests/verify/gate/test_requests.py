"""What becomes of request fields under speculation, by release and engine shape."""

from __future__ import annotations

import json

import pytest
from packaging.version import Version

from tests.verify.gate.asking import judged, of, read, recipe
from trtspec.verify.gate import Asked, gate

MAIN_LATE = "1.4.0rc4"


@pytest.mark.parametrize(
    ("control", "version", "verdict"),
    [
        ("min_tokens", "1.2.1", "fail"),
        ("min_p", "1.2.1", "fail"),
        ("min_p", MAIN_LATE, "pass"),
        ("logit_bias", "1.2.1", "fail"),
        ("bad_words", "1.2.1", "fail"),
        ("no_repeat_ngram_size", "1.3.0rc23", "fail"),
        ("no_repeat_ngram_size", MAIN_LATE, "pass"),
        ("logprobs", "1.2.1", "fail"),
        ("top_logprobs", "1.2.1", "fail"),
        ("logprobs", MAIN_LATE, "pass"),
        ("response_format", "1.2.1", "cannot tell"),
        ("response_format", "1.0.0", "cannot tell"),
        ("n", "1.2.1", "cannot tell"),
        ("top_p_decay", "1.2.1", "fail"),
        ("logits_processors", "1.2.1", "cannot tell"),
    ],
)
def test_one_model_engines(control, version, verdict):
    result = judged("pytorch", "eagle3", version, controls={control: 5})

    assert result.verdict == verdict
    assert of(result, control).value == "5"


def test_a_penalty_that_is_dropped_only_under_speculation_fails():
    result = judged(
        "pytorch", "eagle3", "1.3.0rc26", controls={"repetition_penalty": 1.2}
    )

    assert result.verdict == "fail"
    assert "dropped silently" in of(result, "repetition_penalty").meaning


def test_a_penalty_that_plain_decoding_drops_as_well_is_no_difference():
    result = judged("pytorch", "eagle3", "1.2.1", controls={"presence_penalty": 1.0})

    assert result.verdict == "pass"
    assert "and without" in of(result, "presence_penalty").meaning


def test_a_penalty_is_honoured_with_its_key_and_refused_without():
    controls = {"frequency_penalty": 0.5}
    more = {"pytorch": {"penalties": True}}

    told = judged("pytorch", "eagle3", MAIN_LATE, controls=controls, more=more)
    assert "honoured" in of(told, "frequency_penalty").meaning
    untold = judged("pytorch", "eagle3", MAIN_LATE, controls=controls)
    assert "enable_penalty" in of(untold, "frequency_penalty").meaning
    assert told.verdict == untold.verdict == "pass"


def test_guided_decoding_is_honoured_where_a_backend_enforces_it():
    controls = {"response_format": {"type": "json_object"}}
    more = {"pytorch": {"guided_decoding": "xgrammar"}}

    assert judged("pytorch", "eagle3", "1.2.1", controls=controls).verdict != "pass"
    told = judged("pytorch", "eagle3", "1.2.1", controls=controls, more=more)
    assert told.verdict == "pass"


def test_drafts_from_outside_have_rules_of_their_own():
    result = judged("pytorch", "ngram", "1.2.1", controls={"min_p": 0.1})

    assert result.verdict == "cannot tell"


def test_plain_decoding_has_nothing_to_lose():
    result = judged("pytorch", "none", "1.2.1", controls={"min_p": 0.1})

    assert result.verdict == "pass"


@pytest.mark.parametrize("backend", ["reference", "tensorrt"])
def test_where_trtspec_refuses_a_field_nothing_is_lost(backend):
    result = judged(backend, "ngram", None, controls={"min_p": 0.1})

    assert result.verdict == "pass"
    assert "refuses" in of(result, "min_p").meaning


def test_a_field_of_no_fact_is_not_passed():
    result = judged("pytorch", "eagle3", "1.2.1", controls={"mirostat": 2})

    assert result.verdict == "cannot tell"


def test_a_value_that_asks_for_nothing_and_text_around_the_tokens_do_not_count():
    harmless = {"repetition_penalty": 1, "stop_token_ids": [3], "logprobs": False}

    result = judged("pytorch", "eagle3", "1.2.1", controls=harmless)
    assert result.verdict == "pass"
    assert not {each.name for each in result.inspected} & set(harmless)


def test_the_fields_that_would_be_lost_are_a_caveat():
    result = judged("pytorch", "eagle3", "1.2.1")

    assert result.verdict == "pass"
    assert any("min_tokens" in caveat for caveat in result.caveats)


YAML = """
speculative_config:
  decoding_type: Eagle3
  max_draft_len: 3
  speculative_model: head
"""


def test_top_k_without_a_temperature_was_once_collapsed_to_argmax():
    result = read(YAML, None, version=MAIN_LATE, environment={}, top_k=50)

    assert result.verdict == "cannot tell"
    assert "19390" in of(result, "top_k").source
    told = read(YAML, 1.0, version=MAIN_LATE, environment={}, top_k=50)
    assert told.verdict == "pass"


def _prompts(tmp_path, *lines):
    file = tmp_path / "prompts.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def test_the_workload_says_what_requests_ask_for(tmp_path):
    file = _prompts(
        tmp_path, {"prompt": "a"}, {"prompt": "b", "min_p": 0.1, "my_remark": "x"}
    )
    made = recipe("pytorch", "eagle3")

    asked = Asked.by_recipe(made, file)
    result = gate(made, version=Version("1.2.1"), environment={}, asked=asked)

    assert dict(asked.controls) == {"min_p": 0.1}
    assert result.verdict == "fail"
    assert of(result, "min_p").where == str(file)


@pytest.mark.parametrize(
    ("value", "mode"), [(0.8, "sampled"), (0, "greedy"), (True, "greedy")]
)
def test_a_temperature_in_the_workload_makes_requests_sampled(tmp_path, value, mode):
    file = _prompts(tmp_path, {"prompt": "a", "temperature": value})

    assert Asked.by_recipe(recipe("tensorrt", "ngram"), file).mode() == mode
