"""Which prompts a workload has: one JSON object per line of a file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from trtspec.errors import Problem, UsageError
from trtspec.recipe.prompt_layouts import (
    LAYOUTS,
    LayoutError,
    answer_of,
    messages_of,
    word_of,
)
from trtspec.recipe.text import decode, open_file, shown, unreadable

_MOST_PROBLEMS = 10


@dataclass(frozen=True, slots=True)
class Prompt:
    """One conversation that the model is to continue.

    :param id: unique in its file; the line number if the file gives none.
    :param category: kind of work, such as "code"; empty if the file gives none.
    :param messages: what was said so far, each with ``role`` and ``content``.
    :param answer: what the file expects to follow; empty if it does not say.
    """

    id: str
    category: str
    messages: tuple[Mapping[str, str], ...]
    answer: str = ""


def prompts_path(base: Path, prompts: str, where: str = "") -> Path:
    """Give the file that a recipe's ``workload.prompts`` means.

    :param base: directory that relative names start from: the recipe's.
    :param where: file:line of the name, for messages.
    :raises UsageError: if it starts with ``~name`` and there is no such user.
    """
    try:
        return base / Path(prompts).expanduser()
    except RuntimeError:
        user = Path(prompts).parts[0]
        raise UsageError(
            f"the prompts file {prompts}: the home directory of {user} is not known",
            where=where,
            action=f"correct {user}, or write the whole path",
        ) from None


def load_prompts(
    path: str | Path, where: str = "", *, allow_pipe: bool = False
) -> tuple[Prompt, ...]:
    """Read a file of prompts.

    A line is ``{"prompt": text}``, ``{"turns": [text, ...]}`` (Spec-Bench; the first
    turn is used) or ``{"messages": [{"role": ..., "content": ...}, ...]}`` (OpenAI),
    with ``id`` (or ``question_id``), ``category`` and an answer (see ``ANSWERS``) if
    wanted. Blank lines are skipped, other keys ignored.

    :param where: what names the file, such as a line of a recipe; for messages.
    :param allow_pipe: whether a pipe will do, which can be read only once.
    :raises UsageError: with file:line of every line that is no prompt, or if the file
        has none at all, or is no regular file.
    """
    path = Path(path)
    reading = _Reading(str(path))
    try:
        with open_file(path, allow_pipe=allow_pipe) as stream:
            reading.read(stream)
    except OSError as error:
        raise UsageError.from_problems([_unreadable(error, path, where)]) from None
    if reading.problems:
        raise UsageError.from_problems(reading.problems)
    if not reading.prompts:
        why = "only blank lines" if reading.blank_lines else "it is empty"
        raise UsageError(
            f"the file has no prompts: {why}", where=str(path), allowed=LAYOUTS
        )
    return tuple(reading.prompts)


def _unreadable(error: OSError, path: Path, where: str) -> Problem:
    if not where:
        return unreadable(error, "the prompts file", str(path))
    action = "check the path; in a recipe it starts from the recipe's own folder"
    return unreadable(error, f"the prompts file {path}", where, action)


class _NotAPromptError(Exception):
    """One line cannot be used."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.what)
        self.problem = problem


@dataclass
class _Reading:
    """The prompts and problems of one file, so far."""

    source: str
    prompts: list[Prompt] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    lines: dict[str, int] = field(default_factory=dict)
    """Line of each id."""
    blank_lines: int = 0

    def read(self, lines: Iterable[bytes]) -> None:
        """Read until the end, or until there are enough problems."""
        for number, data in enumerate(lines, start=1):
            try:
                if text := self._text(data, number):
                    self.prompts.append(self._prompt(text, number))
                else:
                    self.blank_lines += 1
            except _NotAPromptError as error:
                self.problems.append(error.problem)
            if len(self.problems) == _MOST_PROBLEMS:
                what = "reading stopped here; correct the lines above first"
                self.problems.append(Problem(what, self._where(number)))
                return

    def _where(self, line: int) -> str:
        return f"{self.source}:{line}"

    def _text(self, data: bytes, line: int) -> str:
        text = decode(data, self.source, line)
        if isinstance(text, Problem):
            raise _NotAPromptError(text)
        return text.strip()

    def _prompt(self, text: str, line: int) -> Prompt:
        entry = self._entry(text, line)
        try:
            messages = messages_of(entry)
            name = word_of(entry, "id", "question_id") or str(line)
            category = word_of(entry, "category")
        except LayoutError as error:
            problem = Problem(
                error.what, self._where(line), error.allowed, error.action
            )
            raise _NotAPromptError(problem) from None
        self._claim(name, line)
        return Prompt(name, category, messages, answer_of(entry))

    def _claim(self, name: str, line: int) -> None:
        first = self.lines.setdefault(name, line)
        if first != line:
            raise _NotAPromptError(
                Problem(
                    f"the id {shown(name, quoted=True)} is that of line {first} too",
                    self._where(line),
                    "a different id in each line",
                )
            )

    def _entry(self, text: str, line: int) -> Mapping[str, object]:
        try:
            entry = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _NotAPromptError(self._not_json(error, text, line)) from None
        if not isinstance(entry, dict):
            what = f"the line is no JSON object, but: {shown(text)}"
            raise _NotAPromptError(Problem(what, self._where(line), LAYOUTS))
        return entry

    def _not_json(self, error: Exception, text: str, line: int) -> Problem:
        reason, place = "it cannot be read", ""
        if isinstance(error, json.JSONDecodeError):
            reason, place = error.msg, f" at column {error.colno}"
        array = text.startswith("[")
        return Problem(
            f"not valid JSON: {reason}{place}, in: {shown(text)}",
            self._where(line),
            f"one JSON object per line: {LAYOUTS}",
            "write each prompt in a line of its own, without [ ]" if array else "",
        )
