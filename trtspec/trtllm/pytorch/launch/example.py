"""What a first request to the server of an artifact looks like."""

from __future__ import annotations

import json
import shlex

from trtspec.build.artifact import CHAT_TEMPLATE, Artifact

_QUESTION = "Name three rivers."
_MOST_TOKENS = 64


def room_for_output(artifact: Artifact) -> int:
    """Tokens that can be generated whatever the prompt's length."""
    limits = artifact.recipe.limits
    return limits.max_total_tokens - limits.max_input_tokens


def curl_command(artifact: Artifact, url: str, model: str) -> str:
    """Give a command line to copy: a chat, or plain text to a model without chats.

    :param url: the server's, without a path.
    :param model: the name that it goes by.
    """
    chats = has_chat_template(artifact)
    path = "/v1/chat/completions" if chats else "/v1/completions"
    asked = {"messages": [{"role": "user", "content": _QUESTION}]}
    body = {
        "model": model,
        **(asked if chats else {"prompt": _QUESTION}),
        "max_tokens": min(_MOST_TOKENS, room_for_output(artifact)),
    }
    return (
        f"curl {url}{path} -H 'Content-Type: application/json' "
        f"-d {shlex.quote(json.dumps(body))}"
    )


def has_chat_template(artifact: Artifact) -> bool:
    """Whether the model can be sent conversations, going by its files."""
    if artifact.chat_template or (artifact.target / CHAT_TEMPLATE).is_file():
        return True
    try:
        text = (artifact.target / "tokenizer_config.json").read_text(encoding="utf-8")
        return bool(json.loads(text).get("chat_template"))
    except (OSError, ValueError, AttributeError):
        return False
