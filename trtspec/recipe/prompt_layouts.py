"""Which conversation a line of a prompts file holds, in any accepted layout."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

LAYOUTS = (
    '{"prompt": "..."}, {"turns": ["...", ...]} or '
    '{"messages": [{"role": "user", "content": "..."}, ...]}'
)
ANSWERS = (
    "answer", "answers", "reference", "references", "response", "output", "completion",
)  # fmt: skip
"""Keys of a line that may hold what the model is expected to say."""
ROLES = ("system", "developer", "user", "assistant", "tool")

Messages = tuple[Mapping[str, str], ...]


class LayoutError(Exception):
    """A line is JSON, but no prompt; says what it has and what it should have."""

    def __init__(self, what: str, allowed: str = LAYOUTS, action: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.allowed = allowed
        self.action = action


def messages_of(entry: Mapping[str, Any]) -> Messages:
    """Give the conversation of one line.

    :raises LayoutError: if it has none, or one that no model could continue.
    """
    layouts = [name for name in _READERS if name in entry]
    if not layouts:
        keys = ", ".join(map(json.dumps, list(entry)[:8])) or "none"
        raise LayoutError(f"there is no prompt; the keys are: {keys}")
    if len(layouts) > 1:
        raise LayoutError(f"there are both {layouts[0]} and {layouts[1]}; give one")
    return _READERS[layouts[0]](entry[layouts[0]])


def word_of(entry: Mapping[str, Any], *keys: str) -> str:
    """Give the text (or whole number, as text) at the first key that is there.

    :raises LayoutError: for a value of another type.
    """
    key = next((key for key in keys if entry.get(key) is not None), None)
    if key is None:
        return ""
    value = entry[key]
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise LayoutError(f"{key} is {_kind(value)}", "text or a whole number")
    return _text(str(value), key)


def answer_of(entry: Mapping[str, Any]) -> str:
    """Give what a line expects the model to say; empty if it does not say.

    Of several answers it is the first, which in Spec-Bench belongs to the first turn.
    What is no text is a remark of the file's own, not an error.
    """
    for key in (key for key in ANSWERS if key in entry):
        value = entry[key]
        try:
            return _text(value[0] if isinstance(value, list) and value else value, key)
        except LayoutError:
            continue
    return ""


def _from_prompt(prompt: object) -> Messages:
    return ({"role": "user", "content": _text(prompt, "prompt")},)


def _from_turns(turns: object) -> Messages:
    if not isinstance(turns, list) or not turns:
        what = "an empty list" if turns == [] else _kind(turns)
        raise LayoutError(f"turns is {what}", "a list of texts; the first is used")
    return ({"role": "user", "content": _text(turns[0], "turns[0]")},)


def _from_messages(messages: object) -> Messages:
    if not isinstance(messages, list) or not messages:
        what = "an empty list" if messages == [] else _kind(messages)
        raise LayoutError(f"messages is {what}", "a list of role and content")
    read = tuple(_message(m, f"messages[{i}]") for i, m in enumerate(messages))
    if read[-1]["role"] == "assistant":
        raise LayoutError(
            "the last message is the assistant's, so its answer is in the prompt",
            "a last message from user or tool",
            "delete the last message",
        )
    return read


def _message(message: object, name: str) -> Mapping[str, str]:
    if not isinstance(message, dict):
        raise LayoutError(f"{name} is {_kind(message)}", "role and content")
    role = message.get("role")
    if role not in ROLES:
        what = "is missing" if role is None else f"is {json.dumps(role)}"
        raise LayoutError(f"{name}.role {what}", ", ".join(ROLES))
    return {"role": role, "content": _text(message.get("content"), f"{name}.content")}


def _text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise LayoutError(f"{name} is {_kind(value)}", "text")
    if not value.strip():
        raise LayoutError(f"{name} is empty", "text", "write a text or delete the line")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise LayoutError(f"{name} has half a surrogate pair in it", "text") from None
    return value


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    return "missing" if value is None else names.get(type(value), "a number")


_READERS: dict[str, Callable[[object], Messages]] = {
    "prompt": _from_prompt,
    "turns": _from_turns,
    "messages": _from_messages,
}
