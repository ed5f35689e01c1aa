"""The OpenAPI document of a front: its paths, and the fields of the release."""

from __future__ import annotations

import json
from typing import Any

from trtspec.serve.openai.answers import ModelCard, ModelList
from trtspec.serve.openai.document import EVENTS
from trtspec.serve.openai.errors import ErrorDocument
from trtspec.serve.openai.fields import AskedSpeculation
from trtspec.serve.proxy.rules import (
    POOL_HEADER,
    ROUTE_HEADER,
    SPECULATION_HEADER,
    WARNING_HEADER,
    WORKLOAD_HEADER,
)
from trtspec.serve.proxy.service import ProxyService
from trtspec.trtllm.facts.serving import RequestPath, request_fields

_ERROR = "#/components/schemas/ErrorDocument"
_REFUSALS = {
    "400": "The request cannot be answered as it is, or the release would not honour "
    "what it asks for.",
    "401": "No valid API key.",
    "404": "No such model.",
    "405": "No such method on this path.",
    "408": "The body did not arrive in time.",
    "413": "The body is too long.",
    "429": "Too many requests wait; Retry-After says when to come again.",
    "500": "The server failed.",
    "502": "The server went away before it had answered.",
    "503": "No server is ready; Retry-After says when to come again.",
    "504": "The request took too long.",
}
_SHOWN = {
    POOL_HEADER: "The pool that answers: on or off.",
    ROUTE_HEADER: "The rule by which.",
    WARNING_HEADER: "What the release may not honour in this request.",
}
_GIVEN: dict[str, dict[str, Any]] = {
    SPECULATION_HEADER: {"type": "string", "enum": ["on", "off"]},
    WORKLOAD_HEADER: {"type": "string"},
}


def openapi(service: ProxyService) -> str:
    """Write the document, as JSON.

    What values the fields of a request may have is for the server's release to say.
    """
    names = [pool.model for pool in service.pools.values()]
    version = service.main.screen.version
    schemas = {
        "ErrorDocument": _schema(ErrorDocument),
        "ModelList": _schema(ModelList),
        "ModelCard": _schema(ModelCard),
    }
    paths: dict[str, Any] = {
        path: {"post": _generating(path, service, names)} for path in _GENERATING
    }
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "trtspec serve",
            "version": "1",
            "description": f"OpenAI's API over trtllm-serve {version}.",
        },
        "paths": paths | _others(),
        "components": {
            "schemas": schemas,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }
    return json.dumps(document)


def _others() -> dict[str, Any]:
    one = _reading("One model.", "ModelCard", "401", "404")
    one["parameters"] = [_parameter("model", "path", {"type": "string"})]
    return {
        "/v1/models": {"get": _reading("What is served.", "ModelList", "401")},
        "/v1/models/{model}": {"get": one},
        "/health": {"get": _state("Whether this process answers.")},
        "/ready": {"get": _state("Whether requests are taken.")},
        "/metrics": {"get": _plain("Metrics for Prometheus.", "text/plain")},
        "/openapi.json": {"get": _plain("This document.", "application/json")},
    }


_GENERATING: tuple[RequestPath, ...] = ("/v1/chat/completions", "/v1/completions")


def _generating(
    path: RequestPath, service: ProxyService, names: list[str]
) -> dict[str, Any]:
    known = request_fields(path, service.main.screen.version)
    fields: dict[str, Any] = {
        name: {"description": field.note} if field.note else {}
        for name, field in known.items()
    }
    fields["model"] = {"type": "string", "enum": names}
    fields["stream"] = {"type": ["boolean", "null"]}
    fields["speculation"] = {"anyOf": [_schema(AskedSpeculation), {"type": "null"}]}
    body = {
        "type": "object",
        "properties": fields,
        "required": [name for name, field in known.items() if field.required],
    }
    answer = {"schema": {"type": "object"}}
    return {
        **_secured("Generate."),
        "parameters": [
            {**_parameter(name, "header", schema), "required": False}
            for name, schema in _GIVEN.items()
        ],
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": body}},
        },
        "responses": {
            "200": {
                "description": "The answer, or its events.",
                "headers": {
                    name: {"description": text, "schema": {"type": "string"}}
                    for name, text in _SHOWN.items()
                },
                "content": {
                    "application/json": answer,
                    "text/event-stream": {"schema": EVENTS},
                },
            },
            **{status: _refusal(status) for status in _REFUSALS},
        },
    }


def _reading(summary: str, schema: str, *refusals: str) -> dict[str, Any]:
    found = {"schema": {"$ref": f"#/components/schemas/{schema}"}}
    return {
        **_secured(summary),
        "responses": {
            "200": {"description": summary, "content": {"application/json": found}},
            **{status: _refusal(status) for status in refusals},
        },
    }


def _state(summary: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"type": "object"}}}
    return {
        "summary": summary,
        "responses": {
            "200": {"description": "It is.", "content": content},
            "503": {"description": "It is not; with the reason.", "content": content},
        },
    }


def _plain(summary: str, kind: str) -> dict[str, Any]:
    content: dict[str, Any] = {kind: {"schema": {}}}
    answer = {"description": summary, "content": content}
    return {"summary": summary, "responses": {"200": answer}}


def _secured(summary: str) -> dict[str, Any]:
    return {"summary": summary, "security": [{"key": []}]}


def _refusal(status: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": _ERROR}}}
    return {"description": _REFUSALS[status], "content": content}


def _parameter(name: str, place: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": place, "required": True, "schema": schema}


def _schema(kind: Any) -> dict[str, Any]:
    """Give a document's schema with what it refers to inside of it."""
    schema: dict[str, Any] = kind.model_json_schema(mode="serialization")
    inner = schema.pop("$defs", {})
    text = json.dumps(schema)
    for name, described in inner.items():
        text = text.replace(f'{{"$ref": "#/$defs/{name}"}}', json.dumps(described))
    found: dict[str, Any] = json.loads(text)
    return found
