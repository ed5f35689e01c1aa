"""What a long operation tells the person who waits for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def _ignore(text: str) -> None:
    """Drop a message that nobody asked to see."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Where messages go.

    :param line: takes one line that stays.
    :param status: takes a text that the next one replaces; empty takes it away.
    :param news_only: leave out what an earlier build had done already.
    """

    line: Callable[[str], None]
    status: Callable[[str], None] = _ignore
    news_only: bool = False


SILENT = Progress(_ignore)
