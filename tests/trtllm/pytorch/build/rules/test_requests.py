"""What a release does with each field of the workload's requests (case 13)."""

import json

import pytest

from tests.trtllm.pytorch.build.rules.findings import found, subject_of
from trtspec.trtllm.pytorch.build.rules.requests import requests_are_honoured

CASE_13 = {
    "max_tokens": 200,
    "temperature": 0.7,
    "logprobs": 5,
    "repetition_penalty": 1.15,
    "min_p": 0.05,
}


def judged(tmp_path, request, version="1.2.1", method="eagle3", **keys):
    """Rule and severity by field."""
    subject = subject_of(tmp_path, method, workload=True, **keys)
    line = json.dumps({"prompt": "a", **request})
    (subject.base / "prompts.jsonl").write_text(f"{line}\n{line}\n")
    findings = found(requests_are_honoured, subject, version)
    assert all(f.where.endswith("prompts.jsonl:1") for f in findings)
    assert all(f.why for f in findings)
    assert all(f.action for f in findings)
    return {f.values.get("field", "all"): f for f in findings}


def rules(*arguments, **keys):
    return {name: f.rule for name, f in judged(*arguments, **keys).items()}


def test_case_13_on_the_newest_releases(tmp_path):
    findings = judged(tmp_path, CASE_13, "1.4.0rc4")
    assert {name: f.rule for name, f in findings.items()} == {
        "logprobs": "request-refused",
        "repetition_penalty": "request-opt-in",
        "min_p": "request-refused",
    }
    assert {f.severity for f in findings.values()} == {"blocking"}
    opt_in = findings["repetition_penalty"]
    assert opt_in.snippet == "pytorch: {penalties: true}"
    assert "method: none" in findings["logprobs"].action
    assert "repetition_penalty 1.15 in 2 requests" in opt_in.what


def test_case_13_once_penalties_are_enabled(tmp_path):
    keys = {"pytorch": {"penalties": True}}
    assert "repetition_penalty" not in rules(tmp_path, CASE_13, "1.4.0rc4", **keys)


def test_case_13_on_1_2_drops_penalty_and_min_p(tmp_path):
    findings = judged(tmp_path, CASE_13, "1.2.1")
    assert {name: f.rule for name, f in findings.items()} == {
        "logprobs": "request-refused",
        "repetition_penalty": "request-ignored",
        "min_p": "request-ignored",
    }
    assert "drops it silently" in findings["min_p"].why
    assert findings["min_p"].severity == "warning"


def test_case_13_on_1_0_drops_the_temperature_too(tmp_path):
    assert rules(tmp_path, CASE_13, "1.0.0")["temperature"] == "request-ignored"


@pytest.mark.parametrize(
    ("request_", "version", "rule"),
    [
        ({"seed": 7}, "1.0.0", "request-ignored"),
        ({"seed": 7}, "1.2.1", "request-ignored"),
        ({"seed": 7}, "1.4.0rc4", None),
        ({"presence_penalty": 0.5}, "1.4.0rc4", "request-opt-in"),
        ({"frequency_penalty": 0.5}, "1.1.0", "request-ignored"),
        ({"top_logprobs": 3, "logprobs": True}, "1.4.0rc4", "request-refused"),
        ({"logit_bias": {"5": -100}}, "1.2.1", "request-ignored"),
        ({"logit_bias": {"5": -100}}, "1.4.0rc4", "request-refused"),
        ({"min_tokens": 5}, "1.4.0rc4", "request-refused"),
        ({"return_context_logits": True}, "1.2.1", "request-ignored"),
        ({"n": 4}, "1.2.1", "request-ignored"),
        ({"response_format": {"type": "json_object"}}, "1.2.1", "request-opt-in"),
        ({"response_format": {"type": "json_object"}}, "1.0.0", "request-refused"),
        ({"guided_json": {"type": "object"}}, "1.2.1", "request-refused"),
        ({"max_new_tokens": 20}, "1.2.1", "request-refused"),
        ({"max_completion_tokens": 20}, "1.0.0", "request-ignored"),
        ({"max_completion_tokens": 20}, "1.2.1", None),
        ({"suffix": "end"}, "1.2.1", "request-refused"),
        ({"stop": ["\n\n"], "ignore_eos": True}, "1.0.0", None),
        ({"tools": [{"type": "function"}]}, "1.2.1", None),
    ],
)
def test_fields_by_release_under_eagle3(tmp_path, request_, version, rule):
    findings = rules(tmp_path, request_, version)
    assert set(findings.values()) == ({rule} if rule else set())


@pytest.mark.parametrize(
    ("request_", "version", "method", "rule"),
    [
        ({"logprobs": 1}, "1.4.0rc4", "ngram", "request-ignored"),
        ({"logprobs": True}, "1.1.0", "mtp", "request-refused"),
        ({"prompt_logprobs": 1}, "1.4.0rc4", "eagle3", "request-refused"),
        ({"return_generation_logits": True}, "1.2.1", "eagle3", "request-refused"),
        ({"logprobs": 0}, "1.4.0rc4", "draft_target", "request-refused"),
    ],
)
def test_logprobs_by_method(tmp_path, request_, version, method, rule):
    assert set(rules(tmp_path, request_, version, method).values()) == {rule}


def test_drafts_from_outside_have_their_own_fates(tmp_path):
    asked = {"min_p": 0.1, "repetition_penalty": 1.2}
    assert rules(tmp_path, asked, "1.4.0rc4", "ngram") == {}
    assert set(rules(tmp_path, asked, "1.2.1", "ngram").values()) == {"request-ignored"}


def test_without_speculation_nothing_is_lost_but_penalties_of_old(tmp_path):
    assert rules(tmp_path, CASE_13, "1.4.0rc4", "none") == {}
    assert rules(tmp_path, CASE_13, "1.2.1", "none") == {
        "repetition_penalty": "request-ignored"
    }


def test_guides_that_the_engine_has_are_silent(tmp_path):
    asked = {"response_format": {"type": "json_object"}}
    keys = {"pytorch": {"guided_decoding": "xgrammar"}}
    assert rules(tmp_path, asked, "1.2.1", **keys) == {}


def test_a_field_of_another_server_is_answered_with_ours(tmp_path):
    finding = judged(tmp_path, {"guided_regex": "[0-9]+"})["guided_regex"]
    assert "response_format" in finding.action


@pytest.mark.parametrize("version", [None, "1.3.0rc10", "9.9.0"])
def test_an_unknown_release_is_a_warning_never_silence(tmp_path, version):
    finding = judged(tmp_path, CASE_13, version)["all"]
    assert finding.severity == "warning"
    assert "logprobs" in finding.what
    assert "--trtllm VERSION" in finding.action


def test_an_unknown_release_matters_only_to_what_depends_on_it(tmp_path):
    assert judged(tmp_path, {"max_tokens": 5, "stop": ["x"]}, None) == {}


def test_a_field_that_no_release_has_is_to_be_left_out(tmp_path):
    finding = judged(tmp_path, {"bad_words": ["x"]})["bad_words"]
    assert finding.action == "leave it out"
