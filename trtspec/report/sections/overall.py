"""What may be said of many candidates at once: who is faster anywhere, who is not."""

from __future__ import annotations

from collections.abc import Sequence

from trtspec.bench.cells import Cell
from trtspec.report.sections.words import joined, word_of

_MANY = 3
"""Candidates from which on their own sentences are too many for a first look."""


def overall(cells: Sequence[Cell], names: Sequence[str]) -> str:
    """Count candidates by word, never loads or figures; empty for few of them."""
    if len(names) < _MANY:
        return ""
    said = [_said(cells, names, word) for word in ("faster", "slower")]
    return f"Of {len(names)} candidates {'; '.join(said)}."


def _said(cells: Sequence[Cell], names: Sequence[str], word: str) -> str:
    found = [n for n in names if any(word_of(cell, n) == word for cell in cells)]
    if not found:
        return f"none is {word} than off under any load"
    verb = "is" if len(found) == 1 else "are"
    return f"{len(found)} {verb} {word} under at least one load: {joined(found)}"
