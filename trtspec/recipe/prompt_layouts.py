"""Which conversation a line of a prompts file holds, in any accepted layout."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from trtspec.recipe.layout_parts import (
    LAYOUTS,
    ROLES,
    LayoutError,
    Messages,
    Turn,
    list_of,
    message_of,
    split,
    text_of,
    type_of,
)
from trtspec.recipe.shared_layouts import batch_messages, shared_turns

ANSWERS = (
    "answer", "answers", "reference", "references", "response", "output", "completion",
)  # fmt: skip
"""Keys of a line that may hold what the model is expected to say."""

IDS = ("id", "question_id", "custom_id")
"""Keys of a line that may name it."""


def messages_of(entry: Mapping[str, Any]) -> Messages:
    """Give the conversation of one line up to what is asked first.

    :raises LayoutError: if it has none, or one that no model could continue.
    """
    turns = turns_of(entry)
    return turns[0].messages if turns else ()


def turns_of(entry: Mapping[str, Any], *, every: bool = False) -> tuple[Turn, ...]:
    """Give what one line asks: its first turn, or every turn.

    The first turn of ``messages`` is all of them: what comes before the last one is
    the prompt's history. A shared conversation may have no turn at all.

    :raises LayoutError: if there is no conversation, or one that no model could
        continue.
    """
    turns = _READERS[_layout_of(entry)](entry, every)
    return turns if every else turns[:1]


def _layout_of(entry: Mapping[str, Any]) -> str:
    layouts = [name for name in _READERS if name in entry]
    if not layouts:
        keys = ", ".join(map(json.dumps, list(entry)[:8])) or "none"
        raise LayoutError(f"there is no prompt; the keys are: {keys}")
    if len(layouts) > 1:
        raise LayoutError(f"there are both {layouts[0]} and {layouts[1]}; give one")
    return layouts[0]


def word_of(entry: Mapping[str, Any], *keys: str) -> str:
    """Give the text (or whole number, as text) at the first key that is there.

    :raises LayoutError: for a value of another type.
    """
    key = next((key for key in keys if entry.get(key) is not None), None)
    if key is None:
        return ""
    value = entry[key]
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise LayoutError(f"{key} is {type_of(value)}", "text or a whole number")
    return text_of(str(value), key)


def answer_of(entry: Mapping[str, Any]) -> str:
    """Give what a line expects the model to say; empty if it does not say.

    Of several answers it is the first, which in Spec-Bench belongs to the first turn.
    What is no text is a remark of the file's own, not an error.
    """
    for key in (key for key in ANSWERS if key in entry):
        value = entry[key]
        try:
            return text_of(
                value[0] if isinstance(value, list) and value else value, key
            )
        except LayoutError:
            continue
    return ""


def _from_prompt(entry: Mapping[str, Any], every: bool) -> tuple[Turn, ...]:
    return (Turn((_user(entry["prompt"], "prompt"),)),)


def _from_turns(entry: Mapping[str, Any], every: bool) -> tuple[Turn, ...]:
    texts = list_of(entry["turns"], "turns", "a list of texts; the first is used")
    asked = texts if every else texts[:1]
    return tuple(
        Turn((_user(text, f"turns[{i}]"),), follows=i > 0)
        for i, text in enumerate(asked)
    )


def _from_messages(entry: Mapping[str, Any], every: bool) -> tuple[Turn, ...]:
    messages = list_of(entry["messages"], "messages", "a list of role and content")
    read = tuple(message_of(m, f"messages[{i}]") for i, m in enumerate(messages))
    return _turns(read, every)


def _from_batch(entry: Mapping[str, Any], every: bool) -> tuple[Turn, ...]:
    return _turns(batch_messages(entry), every)


def _turns(messages: Messages, every: bool) -> tuple[Turn, ...]:
    if every:
        turns = split(messages)
        if not turns:
            raise LayoutError(
                "all messages are the assistant's", "a message from user or tool"
            )
        return turns
    if messages[-1]["role"] == "assistant":
        raise LayoutError(
            "the last message is the assistant's, so its answer is in the prompt",
            "a last message from user or tool",
            "delete the last message",
        )
    return (Turn(messages),)


def _user(text: object, name: str) -> Mapping[str, str]:
    return {"role": "user", "content": text_of(text, name)}


_READERS: dict[str, Callable[[Mapping[str, Any], bool], tuple[Turn, ...]]] = {
    "prompt": _from_prompt,
    "turns": _from_turns,
    "messages": _from_messages,
    "conversations": lambda entry, _: shared_turns(
        entry["conversations"], "conversations"
    ),
    "conversation": lambda entry, _: shared_turns(
        entry["conversation"], "conversation"
    ),
    "body": _from_batch,
}

__all__ = [
    "ANSWERS",
    "IDS",
    "LAYOUTS",
    "ROLES",
    "LayoutError",
    "Messages",
    "Turn",
    "answer_of",
    "messages_of",
    "turns_of",
    "word_of",
]
