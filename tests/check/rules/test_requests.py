"""Requests that will not get what they ask for are told, on any backend."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.check.samples import NGRAM, subject
from trtspec.check.rules.requests import request_controls
from trtspec.recipe.request_names import CONTROLS


def found(tmp_path, *requests, **changes):
    lines = (json.dumps({"prompt": "a", **request}) for request in requests)
    (tmp_path / "w.jsonl").write_text("\n".join(lines))
    workload = {"prompts": "w.jsonl"}
    return list(request_controls(subject(base=tmp_path, workload=workload, **changes)))


def test_plain_prompts_and_remarks_give_no_finding(tmp_path):
    assert found(tmp_path, {}, {"id": "x", "category": "code", "source": "s"}) == []
    assert not list(request_controls(subject(base=tmp_path)))
    assert not list(request_controls(subject(workload={"prompts": "w.jsonl"})))


@pytest.mark.parametrize("backend", ["reference", "tensorrt"])
@pytest.mark.parametrize(
    "request_", [{"logprobs": 5}, {"min_p": 0.05}, {"n": 4}, {"tools": [{"a": 1}]}]
)
def test_a_field_that_the_backend_has_not_is_ignored(tmp_path, backend, request_):
    (finding,) = found(tmp_path, {}, request_, backend=backend)
    assert (finding.rule, finding.severity) == ("request-ignored", "warning")
    assert finding.where.endswith("w.jsonl:2")
    assert f"backend {backend} has no {next(iter(request_))}" in finding.why


def test_fields_that_trtspec_sends_itself_are_silent(tmp_path):
    request = {"max_tokens": 20, "seed": 7, "stop": ["\n"], "ignore_eos": True}
    assert found(tmp_path, request) == []


def test_other_sampling_than_the_recipes_is_told_once(tmp_path):
    (finding,) = found(
        tmp_path,
        {"temperature": 0.7, "top_p": 0.9},
        {"temperature": 0.7},
    )
    assert (finding.rule, finding.severity) == ("request-sampling", "warning")
    assert "temperature 0.7 in 2 requests" in finding.what
    assert "the recipe's sampling has temperature 0, top_p 1" in finding.what
    assert finding.snippet == "sampling: {temperature: 0.7, top_p: 0.9}"


def test_the_same_sampling_is_silent(tmp_path):
    assert found(tmp_path, {"temperature": 0.7}, sampling={"temperature": 0.7}) == []


def test_sampling_that_would_be_lossy_says_so(tmp_path):
    (finding,) = found(
        tmp_path, {"temperature": 0.7}, backend="tensorrt", speculation=NGRAM
    )
    assert "sampled output would be lossy" in finding.why


def test_answers_longer_than_the_limit_are_told(tmp_path):
    limits = {"max_total_tokens": 1024, "max_input_tokens": 512}
    (finding,) = found(tmp_path, {"max_tokens": 4096}, limits=limits)
    assert finding.rule == "request-length"
    assert finding.values["max_total_tokens"] == 1024


def test_a_misspelt_control_is_told(tmp_path):
    (finding,) = found(tmp_path, {"repitition_penalty": 1.2})
    assert finding.rule == "request-field"
    assert finding.values["meant"] == "repetition_penalty"


def test_what_becomes_of_a_field_on_pytorch_is_said_by_its_own_rules(tmp_path):
    assert found(tmp_path, {"min_p": 0.1}, backend="pytorch") == []


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner),
    max_leaves=4,
)
NAMES = st.sampled_from(sorted(CONTROLS)) | st.text(max_size=20)


@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(requests=st.lists(st.dictionaries(NAMES, VALUES, max_size=4), max_size=3))
def test_whatever_stands_in_a_file_gives_findings_that_json_can_hold(
    tmp_path, requests
):
    for finding in found(tmp_path, *requests):
        assert finding.what
        json.dumps(finding.values, allow_nan=False)


def test_values_that_are_no_numbers_are_no_sampling(tmp_path):
    assert found(tmp_path, {"temperature": "hot"}, {"top_p": True}) == []
