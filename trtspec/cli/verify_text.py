"""How ``trtspec verify`` prints a verification on a terminal."""

from __future__ import annotations

import sys
from pathlib import Path

from trtspec.verify.lines import lines_of
from trtspec.verify.verdict import Verification

_STYLES = {"pass": "green", "fail": "red", "cannot tell": "yellow"}


def print_verification(done: Verification, output: Path | None = None) -> None:
    """Print everything; plain text where stdout is no terminal.

    :param output: where the document was written.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stdout)
    for line in lines_of(done):
        style = _STYLES[line.verdict] if line.verdict else ""
        # a file or pipe gets whole lines, however long
        console.print(Text(line.text, style=style), soft_wrap=not console.is_terminal)
    if output is not None:
        console.print(Text(f"the document: {output}"), soft_wrap=True)
