"""What a model said, or is expected to say, in the prompts of a workload."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trtspec.recipe.prompt_layouts import Messages
from trtspec.recipe.workload import Prompt


class Answer(NamedTuple):
    """One text of the model's own.

    :ivar before: what was said until then.
    """

    before: Messages
    text: str


def answers_of(prompt: Prompt) -> Iterator[Answer]:
    """Give the assistant's turns so far, then what the file expects to follow.

    A prompt without either has no answer: what the user wrote is none.
    """
    for place, message in enumerate(prompt.messages):
        if message["role"] == "assistant":
            yield Answer(prompt.messages[:place], message["content"])
    if prompt.answer:
        yield Answer(prompt.messages, prompt.answer)
