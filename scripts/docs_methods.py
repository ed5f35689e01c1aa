"""Writes what the docs quote of the methods: what each takes, costs and keeps exact."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from trtspec.cli.methods_text import reasons
from trtspec.methods import catalogue
from trtspec.methods.catalogue import METHODS, PLACES, settings

ROOT = Path(__file__).resolve().parent.parent


def matrix() -> Iterator[str]:
    """Say what each method does to the output on each backend."""
    heads = (f"`{place.backend}` {place.family}".strip() for place in PLACES)
    yield f"| method | {' | '.join(heads)} |"
    yield f"|{'---|' * (len(PLACES) + 1)}"
    for row in catalogue.matrix():
        shown = f"`{row.name}`" + (f", `{row.label}`" if row.label else "")
        yield f"| {shown} | {' | '.join(row.words)} |"


def why_lossy() -> Iterator[str]:
    """List why output is not exact, and where."""
    return (f"- *{where}*: {why}" for where, why in reasons())


def costs() -> Iterator[str]:
    """Say what each method drafts with, and the tokens that a step verifies."""
    yield "| method | drafts with | tokens to verify per request and step | example |"
    yield "|---|---|---|---|"
    for name, kind in METHODS.items():
        first = settings(name)[0]
        length = first.keys.get("draft_length")
        size = "by default" if length is None else f"draft_length {length}"
        example = f"{first.method.verified_tokens} ({size})"
        yield f"| `{name}` | {kind.needs} | {kind.step} | {example} |"


def described(name: str) -> Iterator[str]:
    """Quote the JSON of one method."""
    command = [sys.executable, "-m", "trtspec", "methods", name, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    (method,) = json.loads(done.stdout)["methods"]
    yield "```json"
    yield from json.dumps(method, indent=2, ensure_ascii=False).splitlines()
    yield "```"
