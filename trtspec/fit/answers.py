"""What a file of answers holds: sequences that the target itself has written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trtspec.errors import UsageError
from trtspec.files import write_atomic
from trtspec.fit.target import Identity, Target, identify

_HEADER_SUFFIX = ".about.json"


@dataclass(frozen=True, slots=True)
class Answer:
    """One conversation with the target's answers in it.

    :param source: where the prompt is from, such as its category.
    :param temperature: of the answers; 0 for greedy, None if another wrote them.
    :param tokens: the whole sequence, chat template included.
    :param spans: where each answer begins and ends in it.
    """

    id: str
    source: str
    temperature: float | None
    tokens: tuple[int, ...]
    spans: tuple[tuple[int, int], ...]

    @property
    def answered(self) -> int:
        """Number of tokens that are the target's."""
        return sum(end - begin for begin, end in self.spans)


def header_path(path: Path) -> Path:
    """Name the file beside the answers that says whose they are."""
    return path.with_name(path.name + _HEADER_SUFFIX)


def write_header(path: Path, identity: Identity, **made: Any) -> None:
    """Say whose answers a file holds, and how they were made."""
    text = json.dumps({"target": identity, **made}, indent=1, sort_keys=True)
    write_atomic(header_path(path), text + "\n")


def read_header(path: Path) -> dict[str, Any]:
    """Give what ``write_header`` wrote.

    :raises UsageError: if it is not there, or no JSON object.
    """
    header = header_path(path)
    try:
        content = json.loads(header.read_text(encoding="utf-8"))
        if isinstance(content, dict) and isinstance(content.get("target"), dict):
            return content
    except (OSError, ValueError):
        pass
    raise UsageError(
        f"nothing says which target wrote these answers: {header.name} is missing or "
        "damaged",
        where=str(path),
        action="make answers with `fit_drafter.py answers`, which writes both files",
    )


def require_same_target(path: Path, identity: Identity) -> None:
    """Refuse answers of another model: a drafter fits the one that wrote them.

    :raises UsageError: if weights or tokenizer are not those that the header names.
    """
    made_by = read_header(path)["target"]
    for part in ("tokenizer", "weights"):
        if made_by.get(part) != identity[part]:
            raise UsageError(
                f"these answers were written by another target: its {part} differ",
                where=str(path),
                allowed=f"{part} with SHA-256 {str(made_by.get(part))[:12]}...; those "
                f"of --target have {identity[part][:12]}...",
                action="give the target that wrote them, or make new answers",
            )


def read_answers(path: Path, vocabulary: int) -> list[Answer]:
    """Read all whole lines; a last line that an interrupt cut off is left out.

    :param vocabulary: ids are below it.
    :raises UsageError: with file:line of what is no answer, or if there is none.
    """
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(
            f"the answers cannot be read: {error.strerror}",
            where=str(path),
            action="make them with `fit_drafter.py answers`",
        ) from None
    found = list(_parse(path, lines[:-1], vocabulary))
    if not found:
        raise UsageError("the file has no answers", where=str(path))
    return found


def load_answers(path: Path, target: Target) -> list[Answer]:
    """Read answers that this target wrote.

    :raises UsageError: if they are another's, or cannot be read.
    """
    answers = read_answers(path, target.vocabulary)
    require_same_target(path, identify(target.directory))
    return answers


def line_of(answer: Answer) -> str:
    """Give the line that ``read_answers`` reads."""
    return json.dumps(asdict(answer), separators=(",", ":")) + "\n"


def _parse(path: Path, lines: list[bytes], vocabulary: int) -> Iterator[Answer]:
    for number, line in enumerate(lines, start=1):
        try:
            answer = _answer(json.loads(line))
        except (ValueError, KeyError, TypeError):
            raise UsageError(
                "the line is no answer",
                where=f"{path}:{number}",
                allowed='{"id", "source", "temperature", "tokens", "spans"}',
            ) from None
        if max(answer.tokens) >= vocabulary or min(answer.tokens) < 0:
            raise UsageError(
                f"token {max(answer.tokens)}",
                where=f"{path}:{number}",
                allowed=f"ids of this target, 0 to {vocabulary - 1}",
            )
        yield answer


def _answer(entry: Mapping[str, Any]) -> Answer:
    tokens = tuple(int(token) for token in entry["tokens"])
    spans = tuple((int(begin), int(end)) for begin, end in entry["spans"])
    if not all(0 < begin <= end <= len(tokens) for begin, end in spans):
        raise ValueError("spans lie outside")
    heat = entry["temperature"]
    return Answer(
        str(entry["id"]),
        str(entry.get("source", "")),
        None if heat is None else float(heat),
        tokens,
        spans,
    )
