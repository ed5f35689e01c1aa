"""Which prompts a command was given: as options, in a file, or on stdin."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from trtspec.errors import UsageError

if TYPE_CHECKING:
    from trtspec.recipe import Prompt


def read_prompts(texts: tuple[str, ...], file: Path | None) -> tuple[Prompt, ...]:
    """Read the prompts of a call; with neither texts nor a file, stdin is one.

    :raises UsageError: if both are given, or a prompt is empty or no text.
    """
    from trtspec.recipe import Prompt, load_prompts

    if texts and file:
        raise UsageError(
            "give either --prompt or --prompts, not both", where="--prompts"
        )
    if file:
        return load_prompts(file, "--prompts", allow_pipe=True)
    named = [(f"--prompt {i}", text) for i, text in enumerate(texts, start=1)]
    named = named or [("stdin", _read_stdin())]
    for name, text in named:
        if not text.strip():
            raise UsageError("the prompt is empty", where=name)
        require_text(name, text)
    return tuple(
        Prompt(name.removeprefix("--prompt "), "", ({"role": "user", "content": text},))
        for name, text in named
    )


def require_text(name: str, text: str) -> None:
    """Refuse what the shell passed on that is no text in its encoding."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise UsageError(
            f"not valid UTF-8 at character {error.start}", where=name
        ) from None


def _read_stdin() -> str:
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(
            "there is no prompt",
            allowed="--prompt TEXT, --prompts FILE, or text on stdin",
        )
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise UsageError(
            f"not valid UTF-8 at byte {error.start}",
            where="stdin",
            action="convert the text to UTF-8",
        ) from None
