"""How do stand-ins speak? As the real tools do, on standard output, at once."""

from __future__ import annotations

import sys
from typing import TextIO


def say(text: str, stream: TextIO | None = None) -> None:
    """Write one line and flush it, so that whoever reads along sees it."""
    where = stream or sys.stdout
    where.write(f"{text}\n")
    where.flush()
