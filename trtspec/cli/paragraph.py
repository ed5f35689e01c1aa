"""How a text is wrapped for a terminal."""

from __future__ import annotations

import shutil
import textwrap

WIDEST = 80
"""Columns that are used of a wider terminal."""


def paragraph(text: str, first: str = "") -> list[str]:
    """Wrap a text in lines that fit the terminal; words are not broken, nor paths.

    :param first: what the first line begins with; the others are indented as far.
    :returns: ``first`` alone where there is no text; nothing where there is neither.
    """
    width = min(shutil.get_terminal_size().columns, WIDEST)
    lines = textwrap.wrap(
        text,
        max(width, 2 * len(first)),  # beside a long label, too, there is some room
        initial_indent=first,
        subsequent_indent=" " * len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines or [line for line in (first.rstrip(),) if line]
