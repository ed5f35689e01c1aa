"""How later turns of a conversation get the answers that their file does not have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from trtspec.errors import Problem, UsageError
from trtspec.recipe.workload import Prompt

Answering = Callable[[Sequence[Prompt]], Sequence[str]]
"""Gives the answer to each of several whole prompts, in their order."""


def needs_answers(prompts: Sequence[Prompt]) -> bool:
    """Whether a prompt goes on from an answer that is not known yet."""
    return any(prompt.follows for prompt in prompts)


def with_answers(
    prompts: Sequence[Prompt], answer_all: Answering
) -> tuple[Prompt, ...]:
    """Fill in what was said before each prompt; then none of them follows another.

    The answers are made once, and all that is measured has the same ones. They are
    asked for in rounds: all first turns that go on together, then all second ones.

    :param prompts: with every turn that another follows.
    :raises UsageError: if a prompt follows one that is not among them.
    """
    whole = {prompt.id: prompt for prompt in prompts if not prompt.follows}
    pending = [prompt for prompt in prompts if prompt.follows]
    while pending:
        ready = [prompt for prompt in pending if prompt.follows in whole]
        if not ready:
            raise UsageError.from_problems(map(_lost, pending))
        asked = [whole[prompt.follows] for prompt in ready]
        answers = answer_all(asked)
        for prompt, before, answer in zip(ready, asked, answers, strict=True):
            said = {"role": "assistant", "content": answer}
            messages = (*before.messages, said, *prompt.messages)
            whole[prompt.id] = replace(prompt, messages=messages, follows="")
        pending = [prompt for prompt in pending if prompt.id not in whole]
    return tuple(whole[prompt.id] for prompt in prompts)


def _lost(prompt: Prompt) -> Problem:
    return Problem(
        f"it follows {prompt.follows}, which is not among the prompts",
        f"prompt {prompt.id}",
        action="keep all turns of a conversation, or use first turns only",
    )
