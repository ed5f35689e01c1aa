"""The OpenAPI document of a server: every path, field and answer."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from pydantic.json_schema import JsonSchemaMode, models_json_schema

from trtspec.serve.openai.answers import (
    ChatAnswer,
    CompletionAnswer,
    ModelCard,
    ModelList,
    State,
)
from trtspec.serve.openai.chat import ChatRequest
from trtspec.serve.openai.completion import CompletionRequest
from trtspec.serve.openai.errors import ErrorDocument

if TYPE_CHECKING:
    from trtspec.serve.service import Service

_REF = "#/components/schemas/{model}"
EVENTS = {
    "description": "Server-sent events: the data of each is a chunk as JSON, an error "
    "document, or [DONE] at the end.",
    "properties": {"data": {"type": "string"}},  # of an event, for who reads them so
}
"""The schema of a stream."""
_REFUSALS = {
    "400": "The request cannot be answered as it is.",
    "401": "No valid API key.",
    "404": "No such model.",
    "405": "No such method on this path.",
    "408": "The body did not arrive in time.",
    "413": "The body is too long.",
    "429": "Too many requests wait; Retry-After says when to come again.",
    "500": "The engine failed.",
    "503": "Not ready; Retry-After says when to come again.",
    "504": "The request took too long.",
}


def openapi(service: Service) -> str:
    """Write the document of a service, with its own name and limits, as JSON."""
    document = _document()
    schemas = document["components"]["schemas"]
    limits = service.recipe.limits
    for name in ("ChatRequest", "CompletionRequest"):
        fields = schemas[name]["properties"]
        fields["model"]["enum"] = [service.name]
        _limit(fields["n"], min(service.limits.choices, service.admission.most))
        for field in {"max_tokens", "max_completion_tokens"} & set(fields):
            _limit(fields[field], limits.max_total_tokens - 1)
    _limit_prompts(schemas["CompletionRequest"]["properties"]["prompt"], service)
    longest = service.recipe.speculation.longest_draft
    if "draft_length" in service.recipe.speculation.of_request:
        _limit(schemas["AskedSpeculation"]["properties"]["draft_length"], longest)
    if not service.keys:
        for path in document["paths"].values():
            for operation in path.values():
                operation.pop("security", None)
    return json.dumps(document)


def _limit(field: dict[str, Any], most: int) -> None:
    """Say the largest value that is ever taken."""
    for choice in field.get("anyOf", [field]):
        if choice.get("type") == "integer":
            choice["maximum"] = most


def _limit_prompts(field: dict[str, Any], service: Service) -> None:
    """Say how many prompts, of how many and which tokens, are ever taken."""
    for prompts in field["anyOf"]:
        if prompts["type"] == "array":
            items = prompts["items"]
            prompts["maxItems"] = service.limits.choices
            if items["type"] == "integer":
                _limit_tokens(prompts, service)
            elif items["type"] == "array":
                _limit_tokens(items, service)


def _limit_tokens(prompt: dict[str, Any], service: Service) -> None:
    prompt["maxItems"] = service.recipe.limits.max_input_tokens
    prompt["items"]["maximum"] = service.codec.vocabulary - 1


def _document() -> dict[str, Any]:
    asked: list[tuple[type[Any], JsonSchemaMode]] = [
        (ChatRequest, "validation"),
        (CompletionRequest, "validation"),
    ]
    answered: list[tuple[type[Any], JsonSchemaMode]] = [
        (kind, "serialization")
        for kind in (
            *(ChatAnswer, CompletionAnswer, ModelList, ModelCard),
            *(State, ErrorDocument),
        )
    ]
    _, schemas = models_json_schema([*asked, *answered], ref_template=_REF)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "trtspec serve",
            "version": "1",
            "description": "OpenAI's API over one artifact. What a request asks for "
            "and is not known here is refused, never dropped.",
        },
        "paths": deepcopy(_paths()),
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _paths() -> dict[str, Any]:
    return {
        "/v1/chat/completions": {
            "post": _generating("Answer a conversation.", "ChatRequest", "ChatAnswer")
        },
        "/v1/completions": {
            "post": _generating(
                "Go on with a text.", "CompletionRequest", "CompletionAnswer"
            )
        },
        "/v1/models": {"get": _reading("What is served.", "ModelList", "401")},
        "/v1/models/{model}": {
            "get": {
                **_reading("One model.", "ModelCard", "401", "404"),
                "parameters": [
                    {
                        "name": "model",
                        "in": "path",
                        "required": True,
                        "schema": {"type": "string", "minLength": 1},
                    }
                ],
            }
        },
        "/health": {"get": _state("Whether the process can go on.")},
        "/ready": {"get": _state("Whether requests are taken.")},
        "/metrics": {
            "get": {
                "summary": "Metrics for Prometheus.",
                "responses": {
                    "200": {
                        "description": "Prometheus' text format.",
                        "content": {"text/plain": {"schema": {"type": "string"}}},
                    }
                },
            }
        },
        "/openapi.json": {
            "get": {
                "summary": "This document.",
                "responses": {"200": _answer("OpenAPI 3.1.", None)},
            }
        },
    }


def _generating(summary: str, asked: str, answered: str) -> dict[str, Any]:
    answer = _answer("The answer, or its events.", answered)
    answer["content"]["text/event-stream"] = {"schema": EVENTS}
    return {
        "summary": summary,
        "security": [{"key": []}],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"$ref": _REF.format(model=asked)}}
            },
        },
        "responses": {
            "200": answer,
            **{
                status: _answer(text, "ErrorDocument")
                for status, text in _REFUSALS.items()
            },
        },
    }


def _reading(summary: str, answered: str, *refusals: str) -> dict[str, Any]:
    return {
        "summary": summary,
        "security": [{"key": []}],
        "responses": {
            "200": _answer(summary, answered),
            **{s: _answer(_REFUSALS[s], "ErrorDocument") for s in refusals},
        },
    }


def _state(summary: str) -> dict[str, Any]:
    return {
        "summary": summary,
        "responses": {
            "200": _answer("It is.", "State"),
            "503": _answer("It is not; the reason is given.", "State"),
        },
    }


def _answer(text: str, schema: str | None) -> dict[str, Any]:
    described = {"$ref": _REF.format(model=schema)} if schema else {"type": "object"}
    return {
        "description": text,
        "content": {"application/json": {"schema": described}},
    }
