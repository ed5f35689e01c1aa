"""How a report reads as Markdown, for a pull request: tables in place of plots."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape as html_escape

from trtspec.report.document import (
    Block,
    Bullets,
    Chapter,
    Code,
    Details,
    Document,
    Facts,
    Figure,
    Note,
    Section,
    Table,
    Text,
    Verdicts,
)

_SPECIAL = re.compile(r"[\\`*|]|(?<!\w)_|_(?!\w)|~(?=~)|\](?=[(\[:])")
"""What Markdown reads as its own within a line; intervals keep their brackets."""
_TONES = {"warning": "Warning", "lossy": "LOSSY", "info": "Note"}


def to_markdown(document: Document) -> str:
    """Write the whole report; it ends with a line feed."""
    parts = [f"# {escape(document.title)}"]
    parts += [_block(note) for note in document.notes]
    alone = len(document.chapters) == 1
    for chapter in document.chapters:
        parts += _chapter(chapter, alone=alone)
    parts.append(f"<sub>{escape(document.made_by)}</sub>")
    return "\n\n".join(part for part in parts if part) + "\n"


def escape(text: str) -> str:
    """Take from text what Markdown or HTML would read as its own; one line."""
    flat = " ".join(text.split())
    flat = flat.replace("&", "&amp;").replace("<", "&lt;")
    return _SPECIAL.sub(r"\\\g<0>", flat)


def _chapter(chapter: Chapter, *, alone: bool) -> Iterator[str]:
    if not alone:
        yield f"## {escape(chapter.title)}"
    yield "  \n".join(map(escape, (chapter.over, *chapter.under)))
    for section in chapter.sections:
        yield from _section(section, 2 if alone else 3)


def _section(section: Section, level: int) -> Iterator[str]:
    yield f"{'#' * level} {escape(section.title)}"
    if section.lead:
        yield escape(section.lead)
    for block in section.blocks:
        yield _block(block)


def _block(block: Block) -> str:
    if isinstance(block, Text):
        return escape(block.text)
    if isinstance(block, Note):
        return f"> **{_TONES[block.tone]}:** {escape(block.text)}"
    if isinstance(block, Bullets):
        return "\n".join(f"- {escape(item)}" for item in block.items)
    if isinstance(block, Code):
        return _fenced(block.text)
    return _composed(block)


def _composed(block: Block) -> str:
    if isinstance(block, Facts):
        rows = tuple((name, value) for name, value in block.pairs)
        return _table(Table(("what", "value"), rows, words=2))
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Figure):
        return _figure(block)
    if isinstance(block, Verdicts):
        return _verdicts(block)
    assert isinstance(block, Details)
    return _details(block.summary, "\n\n".join(map(_block, block.blocks)))


def _fenced(text: str) -> str:
    """Fence a text with more backticks than it has in a row itself."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _table(table: Table) -> str:
    """Write a table: columns of words to the left, of numbers to the right."""
    if not table.rows:
        return ""
    marks = ["---:" if table.numeric(i) else "---" for i in range(len(table.columns))]
    lines = [table.columns, marks, *table.rows]
    text = "\n".join(_row(line, plain=line is marks) for line in lines)
    return f"{escape(table.caption)}:\n\n{text}" if table.caption else text


def _row(cells: Sequence[str], *, plain: bool) -> str:
    return f"| {' | '.join(cells if plain else map(escape, cells))} |"


def _figure(figure: Figure) -> str:
    """Give the numbers of the plots; a long table is folded."""
    if figure.table is None:
        return ""
    text = _table(figure.table)
    return _details(figure.caption.rstrip("."), text)


def _verdicts(block: Verdicts) -> str:
    lines = [
        f"- **{escape(line.name)}**: {escape(f'{line.said} {line.break_even}')}"
        for line in block.headlines
    ]
    return "\n".join(lines) + "\n\n" + _table(block.table)


def _details(summary: str, body: str) -> str:
    return f"<details><summary>{html_escape(summary)}</summary>\n\n{body}\n\n</details>"
