"""What a report is made of, whichever way it is written: chapters of simple blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from trtspec.bench.ratio import Ratio
from trtspec.report.plots import Plot
from trtspec.report.plots.svg import Key

NoteKind = Literal["warning", "lossy", "info"]

_NARROW = 400.0
"""Width of plots from which on two stand in a row, not three."""
_EMPTY = ("", "–", "-")


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    kind: ClassVar[str] = "text"
    text: str


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence that must not be overlooked."""

    kind: ClassVar[str] = "note"
    tone: NoteKind
    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """Sentences, one under another."""

    kind: ClassVar[str] = "bullets"
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Text to be copied as it is."""

    kind: ClassVar[str] = "code"
    text: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values."""

    kind: ClassVar[str] = "facts"
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under titles; the columns hold numbers, but for some that hold words.

    :param words: how many columns of words come first.
    :param last: how many come last.
    """

    kind: ClassVar[str] = "table"
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    words: int = 1
    caption: str = ""
    last: int = 0

    def numeric(self, index: int) -> bool:
        """Whether a column holds numbers."""
        return self.words <= index < len(self.columns) - self.last

    @classmethod
    def of(
        cls,
        columns: Sequence[str],
        rows: Sequence[Sequence[str]],
        words: int = 1,
        caption: str = "",
        last: int = 0,
    ) -> Table:
        """Make one; columns in which no row has anything are left out.

        The first columns of words stay.
        """
        keep = [
            i
            for i in range(len(columns))
            if i < words or any(row[i] not in _EMPTY for row in rows)
        ]
        kept_last = sum(i >= len(columns) - last for i in keep)
        return cls(
            tuple(columns[i] for i in keep),
            tuple(tuple(row[i] for i in keep) for row in rows),
            words,
            caption,
            kept_last,
        )


@dataclass(frozen=True, slots=True)
class Figure:
    """Plots beside one another with one legend, and the table of what they show.

    :param legend: arms; ``parts`` are named parts of bars with their CSS class.
    """

    kind: ClassVar[str] = "figure"
    plots: tuple[Plot, ...]
    caption: str
    legend: tuple[Key, ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    table: Table | None = None

    @property
    def wide(self) -> bool:
        """Whether there is space to draw its few plots larger."""
        return len(self.plots) <= 2 and self.plots[0].width > _NARROW


@dataclass(frozen=True, slots=True)
class Details:
    """Blocks that a reader opens; ``summary`` names them."""

    kind: ClassVar[str] = "details"
    summary: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One candidate under one load.

    :param word: the verdict's; ``failed`` or ``not measured`` where there is none.
    :param speed: the ratio that was judged; above 1 is faster.
    :param facts: further figures, each named.
    :param remarks: LOSSY, doubts, and why no claim can be made; each with its tone.
    """

    name: str
    series: int
    word: str
    speed: Ratio | None
    facts: tuple[tuple[str, str], ...] = ()
    remarks: tuple[tuple[NoteKind, str], ...] = ()


@dataclass(frozen=True, slots=True)
class LoadVerdicts:
    """The candidates under one load; ``speed_name`` says which ratio was judged."""

    load: str
    rows: tuple[VerdictRow, ...]
    speed_name: str


@dataclass(frozen=True, slots=True)
class Headline:
    """All loads of a candidate in one sentence; of a ladder, the break-even."""

    name: str
    said: str
    break_even: str = ""


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What may be said: per candidate in one sentence, per load with its numbers."""

    kind: ClassVar[str] = "verdicts"
    headlines: tuple[Headline, ...]
    loads: tuple[LoadVerdicts, ...]
    table: Table


Block = Text | Note | Bullets | Code | Facts | Table | Figure | Details | Verdicts


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks under a heading."""

    title: str
    blocks: tuple[Block, ...]
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Chapter:
    """A run, a comparison of runs, or a result that another tool measured."""

    title: str
    over: str
    under: tuple[str, ...]
    sections: tuple[Section, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A whole report; ``made_by`` names the program and its version."""

    title: str
    chapters: tuple[Chapter, ...]
    made_by: str
    notes: tuple[Note, ...] = field(default=())
