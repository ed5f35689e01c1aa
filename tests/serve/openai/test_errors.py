"""Errors in OpenAI's form, with words that name the field and none of our types."""

from __future__ import annotations

import json

import pytest

from tests.serve.openai.bodies import refusal
from trtspec.serve.http.body import from_faults
from trtspec.serve.openai.chat import ChatRequest
from trtspec.serve.openai.completion import CompletionRequest
from trtspec.serve.openai.errors import ErrorDocument, RefusalError


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, "invalid_request_error"),
        (404, "invalid_request_error"),
        (413, "invalid_request_error"),
        (401, "authentication_error"),
        (429, "rate_limit_error"),
        (500, "server_error"),
        (502, "server_error"),
        (503, "server_unavailable"),
        (504, "timeout_error"),
    ],
)
def test_each_status_has_its_type(status, kind):
    document = RefusalError(status, "words", "field", "code").document
    assert json.loads(document.model_dump_json()) == {
        "error": {"message": "words", "type": kind, "param": "field", "code": "code"}
    }


def test_what_is_not_known_of_it_is_null():
    body = json.loads(RefusalError(400, "words").document.model_dump_json())["error"]
    assert body["param"] is None
    assert body["code"] is None
    ErrorDocument.model_validate({"error": body})


def test_missing_fields_are_all_named():
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - pydantic's own kind
        CompletionRequest.model_validate_json("{}")
    said = from_faults(caught.value.errors(include_url=False))
    assert said.message == "model: is missing; prompt: is missing"
    assert said.param == "model"


def test_bad_json_is_said_to_be_that():
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - pydantic's own kind
        CompletionRequest.model_validate_json('{"model": ')
    said = from_faults(caught.value.errors(include_url=False))
    assert said.param is None
    assert "JSON" in said.message


def test_many_faults_are_counted_not_listed():
    said = refusal(ChatRequest, **{f"unknown_{i}": i for i in range(9)})
    assert said.message.count("not known here") == 5
    assert said.message.endswith("; and 4 more")


def test_each_field_is_named_once():
    said = refusal(CompletionRequest, stop=["", "", 5])
    assert said.message.count("stop.0:") == 1


def test_long_values_and_names_are_cut():
    said = refusal(CompletionRequest, **{"x" * 5000: 1})
    assert len(said.message) < 400
    said = refusal(CompletionRequest, model=["y" * 5000])
    assert len(said.message) < 400


def test_what_was_given_is_shown_to_the_client_and_not_to_the_log():
    said = refusal(CompletionRequest, temperature=7, prompt=["my secret", 5])
    assert "given: 7" in said.message
    assert "my secret" not in said.logged
    assert "temperature" in said.logged
    assert "prompt" in said.logged
