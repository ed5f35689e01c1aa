"""Which prompts a workload has: one JSON object per line of a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from trtspec.errors import Problem, UsageError
from trtspec.recipe.prompt_entries import Entries, Entry
from trtspec.recipe.prompt_layouts import (
    IDS,
    LAYOUTS,
    LayoutError,
    Messages,
    Turn,
    answer_of,
    turns_of,
    word_of,
)
from trtspec.recipe.text import open_file, shown, unreadable

Turns = Literal["first", "all"]

_MOST_PROBLEMS = 10


@dataclass(frozen=True, slots=True)
class Prompt:
    """One conversation that the model is to continue.

    :param id: unique in its file; the line number if the file gives none. With every
        turn a prompt of its own, a slash and the turn's number follow: ``chat-1/2``.
    :param category: kind of work, such as "code"; empty if the file gives none.
    :param messages: what was said so far, each with ``role`` and ``content``.
    :param answer: what the file expects to follow; empty if it does not say.
    :param follows: id of the turn before, if the answer to it is not in the file;
        ``messages`` is then only what is said after it: see ``turns.with_answers``.
    """

    id: str
    category: str
    messages: Messages
    answer: str = ""
    follows: str = ""


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
    path: str | Path,
    where: str = "",
    *,
    allow_pipe: bool = False,
    turns: Turns = "first",
) -> tuple[Prompt, ...]:
    """Read a file of prompts.

    A line is ``{"prompt": text}``, ``{"turns": [text, ...]}`` (Spec-Bench),
    ``{"messages": [{"role": ..., "content": ...}, ...]}`` (OpenAI), ``{"conversations":
    [{"from": ..., "value": ...}, ...]}`` (ShareGPT) or a line of an OpenAI batch file,
    with ``id`` (or ``question_id``, ``custom_id``), ``category`` and an answer (see
    ``ANSWERS``) if wanted. Blank lines are skipped, other keys ignored. A file may also
    be one JSON list of such objects, as ShareGPT's is. Shared conversations in which
    nobody asks anything are left out.

    :param where: what names the file, such as a line of a recipe; for messages.
    :param allow_pipe: whether a pipe will do, which can be read only once.
    :param turns: first: one prompt per line, up to the first turn (of ``messages``,
        all of them). all: one prompt per turn.
    :raises UsageError: with file:line of every line that is no prompt, or if the file
        has none at all, or is no regular file.
    """
    path = Path(path)
    entries = Entries(str(path))
    reading = _Reading(every=turns == "all")
    try:
        with open_file(path, allow_pipe=allow_pipe) as stream:
            reading.read(entries.read(stream))
    except OSError as error:
        raise UsageError.from_problems([_unreadable(error, path, where)]) from None
    if reading.problems:
        raise UsageError.from_problems(reading.problems)
    if not reading.prompts:
        why = _why_none(entries, reading)
        raise UsageError(
            f"the file has no prompts: {why}", where=str(path), allowed=LAYOUTS
        )
    return tuple(reading.prompts)


def _why_none(entries: Entries, reading: _Reading) -> str:
    if reading.silent:
        return "nobody asks anything in its conversations"
    if entries.is_list:
        return "its list is empty"
    return "only blank lines" if entries.lines else "it is empty"


def _unreadable(error: OSError, path: Path, where: str) -> Problem:
    if not where:
        return unreadable(error, "the prompts file", str(path))
    action = "check the path; in a recipe it starts from the recipe's own folder"
    return unreadable(error, f"the prompts file {path}", where, action)


@dataclass
class _Reading:
    """The prompts and problems of one file, so far."""

    every: bool
    prompts: list[Prompt] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    places: dict[str, str] = field(default_factory=dict)
    """Where each id is."""
    silent: int = 0
    """Conversations without a turn."""

    def read(self, entries: Iterable[Entry | Problem]) -> None:
        """Read until the end, or until there are enough problems."""
        for entry in entries:
            if isinstance(entry, Problem):
                self.problems.append(entry)
            else:
                self._add(entry)
            if len(self.problems) == _MOST_PROBLEMS:
                what = "reading stopped here; correct the lines above first"
                self.problems.append(Problem(what, self.problems[-1].where))
                return

    def _add(self, entry: Entry) -> None:
        try:
            turns = turns_of(entry.value, every=self.every)
            name = word_of(entry.value, *IDS) or str(entry.number)
            category = word_of(entry.value, "category")
        except LayoutError as error:
            problem = Problem(error.what, entry.where, error.allowed, error.action)
            self.problems.append(problem)
            return
        self.silent += not turns
        prompts = list(self._prompts(name, category, turns, answer_of(entry.value)))
        if all(self._claim(prompt.id, entry) for prompt in prompts):
            self.prompts.extend(prompts)

    def _prompts(
        self, name: str, category: str, turns: tuple[Turn, ...], answer: str
    ) -> Iterator[Prompt]:
        """Make the prompts of one entry.

        :param answer: what the entry expects; of later turns that follow the model's
            own words, it belongs to the first.
        """
        told = 1 if any(turn.follows for turn in turns) else len(turns)
        for number, turn in enumerate(turns, start=1):
            yield Prompt(
                f"{name}/{number}" if self.every else name,
                category,
                turn.messages,
                turn.answer or (answer if number == told else ""),
                f"{name}/{number - 1}" if turn.follows else "",
            )

    def _claim(self, name: str, entry: Entry) -> bool:
        """Whether an id is new; else it is a problem."""
        first = self.places.setdefault(name, entry.place)
        if first == entry.place:
            return True
        what = f"the id {shown(name, quoted=True)} is that of {first} too"
        unit = entry.place.partition(" ")[0]
        self.problems.append(
            Problem(what, entry.where, f"a different id in each {unit}")
        )
        return False
