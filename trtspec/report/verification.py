"""What a report says of a verification: the verdict first, then part by part."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trtspec.report.document import (
    Bullets,
    Chapter,
    Facts,
    Note,
    NoteKind,
    Section,
    Table,
    Text,
)
from trtspec.report.reading import read_document
from trtspec.verify.greedy.records import Verdict
from trtspec.verify.lines import arm_line
from trtspec.verify.verdict import PARTS, SCHEMA, Part, Verification

_MARK = f'"{SCHEMA}"'.encode()
_LOOKED_AT = 400
"""Bytes in which a document of ours says what it is."""


@dataclass(frozen=True, slots=True)
class LoadedVerification:
    """A verdict document as it was read back."""

    path: Path
    document: Verification


def is_verification(path: Path) -> bool:
    """Whether a file is a document of ``trtspec verify``."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return _MARK in file.read(_LOOKED_AT)


def load_verification(path: Path) -> LoadedVerification:
    """Read a verdict document.

    :raises UsageError: if it is none.
    """
    document = read_document(Verification, path, "verify", SCHEMA)
    return LoadedVerification(path, document)


def verification_chapter(found: LoadedVerification) -> Chapter:
    """Lay out a verification."""
    done = found.document
    return Chapter(
        title=done.name,
        over="Whether speculation left the output alone",
        under=(f"{done.started[:16].replace('T', ' ')} UTC. {done.seconds:.0f} s.",),
        sections=(_verdict(done), *map(_part, done.parts), _how(found)),
    )


def _verdict(done: Verification) -> Section:
    rows: list[tuple[str, str, str]] = [
        (PARTS[part.name], part.verdict, f"{part.seconds:.1f}") for part in done.parts
    ]
    rows += [(PARTS[one.name], "not run", "") for one in done.skipped]
    return Section(
        "Verdict",
        (
            Note(_tone(done.verdict), f"{done.verdict}: {done.sentence}."),
            Table.of(("test", "verdict", "seconds"), rows, words=2),
        ),
    )


def _part(part: Part) -> Section:
    reasons = [Note(_tone(part.verdict), reason) for reason in part.reasons]
    title = PARTS[part.name]
    return Section(
        f"{title[:1].upper()}{title[1:]}: {part.verdict}",
        (*([Bullets(part.summary)] if part.summary else []), *reasons),
    )


def _tone(verdict: Verdict) -> NoteKind:
    return "info" if verdict == "pass" else "warning"


def _how(found: LoadedVerification) -> Section:
    done = found.document
    facts = [("compared", "; ".join(map(arm_line, done.arms)))]
    if done.prompts:
        facts.append(("prompts", f"{done.prompts.count} of {done.prompts.file}"))
    facts += [(PARTS[one.name], f"not run: {one.why}") for one in done.skipped]
    facts.append(("machine", done.conditions.hardware.cpu))
    return Section(
        "What was compared",
        (Facts(tuple(facts)), Text(f"All figures: {found.path.name}.")),
    )
