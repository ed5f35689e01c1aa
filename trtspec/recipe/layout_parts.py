"""What all layouts of a prompts file are made of: texts, roles, turns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

LAYOUTS = (
    '{"prompt": "..."}, {"turns": ["...", ...]}, '
    '{"messages": [{"role": "user", "content": "..."}, ...]}, '
    '{"conversations": [{"from": "human", "value": "..."}, ...]} '
    "or a line of an OpenAI batch file"
)
ROLES = ("system", "developer", "user", "assistant", "tool")

Messages = tuple[Mapping[str, str], ...]


class LayoutError(Exception):
    """A line is JSON, but no prompt; says what it has and what it should have."""

    def __init__(self, what: str, allowed: str = LAYOUTS, action: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.allowed = allowed
        self.action = action


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that the model is asked.

    :param messages: what was said so far; for a turn that follows another, only what
        is new in it.
    :param answer: what the file has as the model's answer; empty if it has none.
    :param follows: whether the turn before it and its answer come first; the answer is
        not in the file.
    """

    messages: Messages
    answer: str = ""
    follows: bool = False


def text_of(value: object, name: str) -> str:
    """Give a text that is not empty.

    :param name: how the file calls it.
    :raises LayoutError: for anything else.
    """
    if not isinstance(value, str):
        raise LayoutError(f"{name} is {type_of(value)}", "text")
    if not value.strip():
        raise LayoutError(f"{name} is empty", "text", "write a text or delete the line")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise LayoutError(f"{name} has half a surrogate pair in it", "text") from None
    return value


def list_of(value: object, name: str, allowed: str) -> list[object]:
    """Give a list that is not empty.

    :raises LayoutError: for anything else.
    """
    if not isinstance(value, list) or not value:
        what = "an empty list" if value == [] else type_of(value)
        raise LayoutError(f"{name} is {what}", allowed)
    return value


def message_of(message: object, name: str) -> Mapping[str, str]:
    """Give a message with role and content.

    :raises LayoutError: if it is none.
    """
    if not isinstance(message, dict):
        raise LayoutError(f"{name} is {type_of(message)}", "role and content")
    role = message.get("role")
    if role not in ROLES:
        raise LayoutError(f"{name}.role {_said(role)}", ", ".join(ROLES))
    return {"role": role, "content": text_of(message.get("content"), f"{name}.content")}


def _said(value: object) -> str:
    return "is missing" if value is None else f"is {json.dumps(value)}"


def type_of(value: object) -> str:
    """Name the JSON type of a value."""
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    return "missing" if value is None else names.get(type(value), "a number")


def split(messages: Sequence[Mapping[str, str]]) -> tuple[Turn, ...]:
    """Cut a conversation into its turns, each with all that was said before it.

    A turn ends where the assistant answers, or at the end of the conversation.
    """
    turns = []
    for place, message in enumerate(messages):
        after = messages[place + 1] if place + 1 < len(messages) else None
        if message["role"] == "assistant" or (after and after["role"] != "assistant"):
            continue
        answer = after["content"] if after else ""
        turns.append(Turn(tuple(messages[: place + 1]), answer))
    return tuple(turns)
