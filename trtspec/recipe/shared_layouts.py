"""Which conversation other people's files hold: ShareGPT, OpenAI batch files.

ShareGPT: ``{"id": ..., "conversations": [{"from": "human" | "gpt" | "system", "value":
...}, ...]}`` (dataset card of RyokoAI/ShareGPT52K). Batch: ``{"custom_id": ...,
"method": "POST", "url": "/v1/chat/completions", "body": {...}}`` (the request input
object of OpenAI's Batch API).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from trtspec.recipe.layout_parts import (
    LayoutError,
    Messages,
    Turn,
    list_of,
    message_of,
    split,
    text_of,
    type_of,
)

SPEAKERS = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "assistant": "assistant",
    "system": "system",
}
"""Role of each speaker in a ShareGPT file."""

_PAIR = ("human", "assistant")
_CHAT, _COMPLETIONS = "/v1/chat/completions", "/v1/completions"


def shared_turns(conversation: object, name: str) -> tuple[Turn, ...]:
    """Give the turns of a shared conversation; none if nobody asks anything in it.

    Such files hold pieces of conversations: answers before the first question are left
    out, and one ends where a text is empty, as happens in them.

    :param name: its key, for messages.
    :raises LayoutError: if it is no list of messages, or has a speaker that is unknown.
    """
    if conversation == []:
        return ()
    entries = list_of(conversation, name, "a list of from and value")
    said = list(_said(entries, name))
    first = next((i for i, m in enumerate(said) if m["role"] == "user"), len(said))
    opening = [m for m in said[:first] if m["role"] == "system"]
    turns = split([*opening, *said[first:]])
    return tuple(t for t in turns if t.messages[-1]["role"] == "user")


def _said(entries: list[object], name: str) -> Iterator[Mapping[str, str]]:
    for index, entry in enumerate(entries):
        for message in _messages(entry, f"{name}[{index}]"):
            if not message["content"].strip():
                return
            yield {
                **message,
                "content": text_of(message["content"], f"{name}[{index}]"),
            }


def _messages(entry: object, name: str) -> Messages:
    """Read one entry: from and value, role and content, or a pair of texts."""
    if not isinstance(entry, dict):
        raise LayoutError(f"{name} is {type_of(entry)}", "from and value")
    if "from" not in entry and all(key in entry for key in _PAIR):
        return tuple(
            {"role": SPEAKERS[key], "content": _content(entry[key], f"{name}.{key}")}
            for key in _PAIR
        )
    speaker, text = ("from", "value") if "from" in entry else ("role", "content")
    role = entry.get(speaker)
    if not isinstance(role, str) or role not in SPEAKERS:
        what = "is missing" if role is None else f"is {json.dumps(role)}"
        raise LayoutError(f"{name}.{speaker} {what}", ", ".join(SPEAKERS))
    content = _content(entry.get(text), f"{name}.{text}")
    return ({"role": SPEAKERS[role], "content": content},)


def _content(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise LayoutError(f"{name} is {type_of(value)}", "text")
    return value


def batch_messages(entry: Mapping[str, object]) -> Messages:
    """Give the conversation of a line of a batch file.

    What else its body asks for, such as a model or a length, is the bench's to say.

    :raises LayoutError: if it is no request for text.
    """
    url = entry.get("url", _CHAT)
    if url not in (_CHAT, _COMPLETIONS):
        raise LayoutError(f"url is {json.dumps(url)}", f"{_CHAT} or {_COMPLETIONS}")
    body = entry["body"]
    if not isinstance(body, dict):
        raise LayoutError(f"body is {type_of(body)}", "the request: an object")
    if url == _COMPLETIONS:
        return ({"role": "user", "content": _one_prompt(body.get("prompt"))},)
    messages = list_of(body.get("messages"), "body.messages", "a list of messages")
    return tuple(message_of(m, f"body.messages[{i}]") for i, m in enumerate(messages))


def _one_prompt(prompt: object) -> str:
    if isinstance(prompt, list) and len(prompt) == 1:
        prompt = prompt[0]
    if isinstance(prompt, list):
        raise LayoutError(
            f"body.prompt is a list of {len(prompt)}",
            "one text",
            "write each prompt in a line of its own",
        )
    return text_of(prompt, "body.prompt")
