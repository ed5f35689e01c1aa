"""The OpenAPI document says what the server really takes and answers."""

from __future__ import annotations

import copy
import json

import jsonschema
import pytest

from tests.reference.artifacts import recipe
from tests.serve.openai.bodies import CHAT, COMPLETION
from tests.serve.replies import events
from tests.serve.serving import runner_of, service_for
from trtspec.serve.http.app import application
from trtspec.serve.limits import ServeLimits
from trtspec.serve.openai.document import openapi


@pytest.fixture(scope="module")
def document(client):
    return client.get("/openapi.json").json()


@pytest.fixture(scope="module")
def make_document(word_models):
    """Documents of services with other recipes and limits."""

    def make(method=None, **options):
        asked = recipe(method)
        runner = runner_of(asked, word_models / "target")
        return json.loads(openapi(service_for(runner, asked, **options)))

    return make


def strict(document, name):
    """The schema of a document, in which nothing but what is described may be."""
    schemas = copy.deepcopy(document["components"]["schemas"])
    for schema in schemas.values():
        if "properties" in schema:
            schema["additionalProperties"] = False
    return {"$ref": f"#/components/schemas/{name}", "components": {"schemas": schemas}}


def answer_schema(document, path, status, method="post"):
    """The name of the schema that an answer has."""
    responses = document["paths"][path][method]["responses"]
    content = responses[str(status)]["content"]["application/json"]
    return content["schema"]["$ref"].rpartition("/")[2]


def require_valid(document, name, value):
    jsonschema.validate(value, strict(document, name), jsonschema.Draft202012Validator)


def test_it_is_a_valid_schema_throughout(document):
    for schema in document["components"]["schemas"].values():
        jsonschema.Draft202012Validator.check_schema(schema)


def test_every_reference_leads_somewhere(document):
    text = json.dumps(document)
    names = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert names <= set(document["components"]["schemas"])


def test_every_route_is_in_it_and_no_other(document, server):
    app = application(server.service).app
    routes = {
        route.path.replace(":path", ""): route.methods - {"HEAD"}
        for route in app.routes
    }
    described = {
        path: {method.upper() for method in operations}
        for path, operations in document["paths"].items()
    }
    assert described == routes


@pytest.mark.parametrize(
    "name",
    [
        *("ChatAnswer", "CompletionAnswer", "Usage", "SpeculationFigures"),
        *("ModelCard", "ModelList", "State", "ErrorBody"),
    ],
)
def test_answers_are_described_field_by_field(document, name):
    schema = document["components"]["schemas"][name]
    assert schema["properties"]
    assert schema["required"]


FIELDS = [
    {},
    {"n": 2, "seed": 3},
    {"stop": ["w4"], "temperature": 0},
    {"return_token_ids": True, "speculation": {"enabled": False}},
    {"ignore_eos": True, "speculation": {"draft_length": 2}, "top_k": -1},
    {"max_tokens": 3.0, "user": "me", "logit_bias": {}},
]


@pytest.mark.parametrize("fields", FIELDS, ids=str)
@pytest.mark.parametrize(
    ("path", "name", "least"),
    [
        ("/v1/chat/completions", "ChatRequest", CHAT),
        ("/v1/completions", "CompletionRequest", COMPLETION),
    ],
)
def test_what_is_described_is_taken_and_answered_as_described(  # noqa: PLR0917
    client, document, path, name, least, fields
):
    body = {"max_tokens": 4, **least, **fields}
    body["logprobs"] = True if "messages" in body else 2
    if "messages" in body:
        body["top_logprobs"] = 2
    require_valid(document, name, body)
    answer = client.post(path, json=body)
    assert answer.status_code == 200
    require_valid(document, answer_schema(document, path, 200), answer.json())


@pytest.mark.parametrize(
    "change",
    [
        *({"usage": None}, {"choices": [{}]}, {"object": "other"}, {"more": 1}),
        *({"model": 5}, {"created": "now"}),
    ],
)
def test_a_wrong_answer_would_not_be_valid(client, document, change):
    """Else the tests here would pass for schemas that describe nothing."""
    answer = client.post("/v1/chat/completions", json=CHAT).json()
    require_valid(document, "ChatAnswer", answer)
    with pytest.raises(jsonschema.ValidationError):
        require_valid(document, "ChatAnswer", {**answer, **change})


def test_events_of_a_completion_are_as_described(client, document):
    body = {**COMPLETION, "stream": True, "stream_options": {"include_usage": True}}
    answer = client.post("/v1/completions", json=body)
    found = [json.loads(e) for e in events(answer.text) if e != "[DONE]"]
    assert len(found) > 2
    for one in found:
        require_valid(document, "CompletionAnswer", one)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/chat/completions", b"{", 400),
        ("/v1/chat/completions", b"{}", 400),
        ("/v1/completions", b'{"model": "other", "prompt": "w3"}', 404),
        ("/v1/completions", b'{"model": "toy", "prompt": "w3", "min_p": 1}', 400),
        ("/v1/completions", b'{"model": "toy", "prompt": "w3", "n": 17}', 400),
    ],
)
def test_refusals_are_as_described(client, document, path, body, status):
    answer = client.post(path, content=body)
    assert answer.status_code == status
    require_valid(document, answer_schema(document, path, status), answer.json())


@pytest.mark.parametrize(
    ("path", "status", "described"),
    [
        ("/v1/models", 200, "/v1/models"),
        ("/v1/models/toy", 200, "/v1/models/{model}"),
        ("/v1/models/other", 404, "/v1/models/{model}"),
        ("/health", 200, "/health"),
        ("/ready", 200, "/ready"),
    ],
)
def test_what_is_read_is_as_described(client, document, path, status, described):
    answer = client.get(path)
    assert answer.status_code == status
    name = answer_schema(document, described, status, "get")
    require_valid(document, name, answer.json())


def test_fields_that_are_missing_or_unknown_are_not_described(document):
    for name, least in (("ChatRequest", CHAT), ("CompletionRequest", COMPLETION)):
        require_valid(document, name, least)
        for wrong in ({"unknown": 1}, {"min_p": 0.5}, {"model": "other"}, {"n": 0}):
            with pytest.raises(jsonschema.ValidationError):
                require_valid(document, name, {**least, **wrong})


def maxima(document, schema, field):
    found = document["components"]["schemas"][schema]["properties"][field]
    return {c["maximum"] for c in found.get("anyOf", [found]) if "maximum" in c}


def test_limits_of_this_server_are_in_it(make_document):
    document = make_document(limits=ServeLimits(choices=5))
    assert maxima(document, "ChatRequest", "n") == {5}
    narrow = make_document(limits=ServeLimits(waiting=1))
    assert maxima(narrow, "ChatRequest", "n") == {3}
    assert maxima(document, "CompletionRequest", "max_tokens") == {59}
    assert maxima(document, "ChatRequest", "max_completion_tokens") == {59}
    assert maxima(document, "AskedSpeculation", "draft_length") == {3}
    names = document["components"]["schemas"]["ChatRequest"]["properties"]["model"]
    assert names["enum"] == ["toy"]


def test_a_method_without_a_draft_length_has_no_limit_for_it(make_document):
    document = make_document({"method": "none"})
    assert maxima(document, "AskedSpeculation", "draft_length") == set()


def test_keys_are_described_where_they_are_needed(make_document, document):
    with_keys = make_document(keys=["k"])
    for path, operations in with_keys["paths"].items():
        for operation in operations.values():
            assert ("security" in operation) == path.startswith("/v1/")
    assert "security" not in json.dumps(document["paths"])
