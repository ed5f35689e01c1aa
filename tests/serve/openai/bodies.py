"""The least that a request of each kind says."""

from __future__ import annotations

import json

import pytest

from trtspec.serve.http.body import from_faults
from trtspec.serve.openai.chat import ChatRequest
from trtspec.serve.openai.completion import CompletionRequest
from trtspec.serve.openai.errors import RefusalError

CHAT = {"model": "toy", "messages": [{"role": "user", "content": "w3"}]}
COMPLETION = {"model": "toy", "prompt": "w3"}
KINDS = {ChatRequest: CHAT, CompletionRequest: COMPLETION}
INTERNAL = (
    *("constrained", "function-", "list[", "union", "tagged", "TextPart"),
    *("ChatMessage", "Common", "pydantic", "StopText", "Tokens", "literal_error"),
)
"""Words of ours and of pydantic's that no client should read."""


def read(kind, **fields):
    """Read a body as the server does."""
    return kind.model_validate_json(json.dumps({**KINDS[kind], **fields}))


def refusal(kind, **fields) -> RefusalError:
    """What is said of a body that is not taken."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - pydantic's own kind
        read(kind, **fields)
    said = from_faults(caught.value.errors(include_url=False))
    for word in INTERNAL:
        assert word not in said.message
        assert word not in (said.param or "")
    return said
