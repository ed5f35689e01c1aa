"""What docs/troubleshooting.md says of messages, and whether ours exist.

A message of trtspec is quoted with … where its values stand. ``templates`` gives every
text of the code in that form, so that a test can tell when a quoted one has changed.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from trtspec.trtllm.pytorch.launch.failures import serving_failures

ROOT = Path(__file__).resolve().parent.parent
VALUE = "…"


def server_failures() -> Iterator[str]:
    """Tabulate the failures of ``trtllm-serve`` that are recognised in its log."""
    yield "| what the log says | meaning | what to do | known from |"
    yield "|---|---|---|---|"
    for known in serving_failures():
        cells = (known.example.strip(), known.meaning, known.action, known.source)
        example, *rest = (cell.replace("|", "\\|") for cell in cells)
        yield f"| `{example}` | {' | '.join(rest)} |"


MAKERS: dict[str, Callable[..., Iterator[str]]] = {"server-failures": server_failures}


@cache
def templates(folder: Path = ROOT / "trtspec") -> tuple[str, ...]:
    """Give the texts of all modules, with … for each value that is put in.

    The catalogue of rules and the facts count too: their texts are shown as they are.
    """
    found: list[str] = []
    for path in sorted(folder.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found += (
            text
            for node in ast.walk(tree)
            if isinstance(node, ast.expr) and (text := _text(node))
        )
    for path in sorted([*folder.rglob("*.yaml"), *folder.rglob("*.json")]):
        if path.suffix == ".json":
            found += _texts_of(json.loads(path.read_text(encoding="utf-8")))
        else:
            found.append(" ".join(path.read_text(encoding="utf-8").split()))
    return tuple(found)


def _text(node: ast.expr) -> str:
    """Give a text, or a sum of texts; empty for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or VALUE for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return f"{left or VALUE}{right or VALUE}" if left or right else ""
    return ""


def _texts_of(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts_of(one)


def quoted(page: str) -> list[str]:
    """Give the messages of a page: the first cells of its tables, in backquotes.

    A table counts whose first heading is *message*.
    """
    messages, counts = [], False
    for line in page.splitlines():
        if not line.startswith("|"):
            counts = False
        elif line.startswith("| message"):
            counts = True
        elif counts and (found := re.match(r"\| `([^`]+)`", line)):
            messages.append(found.group(1))
    return messages


def exists(message: str) -> bool:
    """Whether the code still has a message."""
    wanted = _plain(message)
    return any(wanted in _plain(text) for text in templates())


def _plain(text: str) -> str:
    """Let neither white space nor the number of values in a row matter."""
    return re.sub(rf"{VALUE}+", VALUE, " ".join(text.split()))
