"""What the page about ``trtspec init`` quotes: answers, and the published drafters."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from trtspec.advise.published import PublishedDrafter, published_targets

ROOT = Path(__file__).resolve().parent.parent


def asked(*arguments: str) -> Iterator[str]:
    """Quote an answer, and the recipe that comes with it."""
    command = ["init", *arguments, "--out", "-"]
    with tempfile.TemporaryDirectory() as nothing:
        # what is in this machine's caches would be called usable
        done = subprocess.run(
            [sys.executable, "-m", "trtspec", *command],
            cwd=ROOT,
            env={
                **os.environ,
                "HF_HUB_CACHE": nothing,
                "TRTSPEC_CACHE": nothing,
                "COLUMNS": "80",
            },
            capture_output=True,
            text=True,
            check=True,
        )
    yield "```console"
    yield f"$ trtspec {' '.join(command)}"
    yield from done.stderr.splitlines()
    yield "```"
    yield ""
    yield "```yaml"
    yield from done.stdout.splitlines()
    yield "```"


def published() -> Iterator[str]:
    """List the drafters that public documents name for a target."""
    yield "| target | drafters |"
    yield "|---|---|"
    for target in published_targets():
        drafters = "; ".join(map(_drafter, target.drafters))
        yield f"| {target.model} | {drafters} |"


def _drafter(drafter: PublishedDrafter) -> str:
    name = drafter.model or "inside the checkpoint"
    where = drafter.source
    if where.startswith("https://"):
        where = f"[source]({where})"
    return f"`{drafter.method}`: {name} ({where})"
