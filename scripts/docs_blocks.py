"""Writes what the docs quote of trtspec: command lines, the exactness table, facts.

A block stands between ``<!-- generated: NAME ARGUMENTS -->`` and ``<!-- end -->``. The
tests hold every block against what comes out here.

    python scripts/docs_blocks.py docs/checkpoint-to-engines.md
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

import docs_cli
import docs_concepts
import docs_init
import docs_methods
import docs_recipe
import docs_releases
import docs_troubles
from packaging.version import Version

from trtspec.methods import (
    DraftTarget,
    Eagle,
    Lookahead,
    Medusa,
    Method,
    NGram,
    NoSpeculation,
    ReDrafter,
)
from trtspec.trtllm import facts

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"(<!-- generated: ([a-z-]+)(?: ([^\n]*?))? -->\n).*?(<!-- end -->)", re.S
)

SHOWN: dict[str, Method] = {
    "`none`": NoSpeculation(method="none"),
    "`ngram`": NGram(method="ngram", draft_length=4),
    "`draft_target`, by tokens": DraftTarget(
        method="draft_target", model="m", draft_length=4
    ),
    "`draft_target`, `use_draft_logits: true`": DraftTarget(
        method="draft_target", model="m", draft_length=4, use_draft_logits=True
    ),
    "`medusa`": Medusa(method="medusa", model="m"),
    "`eagle`": Eagle(method="eagle", model="m"),
    "`eagle`, `acceptance: typical`": Eagle(
        method="eagle", model="m", acceptance="typical", posterior_threshold=0.1
    ),
    "`redrafter`": ReDrafter(method="redrafter", model="m"),
    "`redrafter`, `greedy_search: false`": ReDrafter(
        method="redrafter", model="m", greedy_search=False
    ),
    "`lookahead`": Lookahead(method="lookahead"),
}
"""Every way of speculating on engines that differs in what it does to the output; those
of backend pytorch are in ``docs_releases``."""
PAGE = ("*", "reference", "tensorrt")
"""Backends that the page about engines speaks of."""
METHODS = tuple(dict.fromkeys(method.method for method in SHOWN.values()))


def table(heads: Sequence[str], rows: Iterator[Sequence[str]]) -> Iterator[str]:
    """Lay out a table in Markdown."""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"


def plan(recipe: str, option: str, version: str) -> Iterator[str]:
    """Quote the stages and command lines that ``trtspec plan`` prints."""
    with tempfile.TemporaryDirectory() as nothing:
        # a checkpoint in this machine's cache would be named by its path
        environment = {**os.environ, "HF_HOME": nothing, "HF_HUB_CACHE": nothing}
        command = [sys.executable, "-m", "trtspec", "plan", recipe, option, version]
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    yield "```console"
    yield f"$ trtspec plan {recipe} {option} {version}"
    yield from (line for line in done.stdout.splitlines()[1:] if line.startswith(" "))
    yield "```"


def exactness() -> Iterator[str]:
    """Say what each method does to the output, from the methods themselves."""
    rows = (
        (
            name,
            "any" if entry.backend == "*" else f"`{entry.backend}`",
            f"`{entry.versions}`" if entry.versions else "all",
            entry.greedy or "exact",
            entry.sampled or "exact",
        )
        for name, method in SHOWN.items()
        for entry in method.exactness()
        if entry.backend in PAGE
    )
    heads = ("method", "backend", "versions", "greedy", "temperature above 0")
    return table(heads, rows)


def families() -> Iterator[str]:
    """List the model families of each method, and in which releases."""
    rows = ((f"`{name}`", "; ".join(_families(name))) for name in METHODS)
    return table(("method", "`model_type` of the target"), rows)


def _families(method: str) -> Iterator[str]:
    versions = [Version(release.version) for release in facts.releases()]
    known = groupby(versions, lambda version: sorted(facts.targets(method, version)))
    for names, among in known:
        releases = list(among)
        yield f"{', '.join(names)} ({releases[0]} to {releases[-1]})"


def failures() -> Iterator[str]:
    """List the failures that are recognised."""
    rows = (
        (
            f"`{known.example.strip()}`",
            ", ".join(known.stages),
            known.meaning,
            known.action,
        )
        for known in facts.failures()
    )
    return table(("what TensorRT-LLM says", "stage", "meaning", "what to do"), rows)


def not_established() -> Iterator[str]:
    """List what no source settles."""
    return (f"- {text}" for text in facts.not_established())


MAKERS: dict[str, Callable[..., Iterator[str]]] = {
    "plan": plan,
    "init": docs_init.asked,
    "published": docs_init.published,
    "exactness": exactness,
    "families": families,
    "failures": failures,
    "not-established": not_established,
    "recipe": docs_releases.recipe,
    "llm-args": docs_releases.llm_args,
    "exactness-by-release": docs_releases.exactness,
    "acceptance": docs_releases.acceptance,
    "zones": docs_releases.zones,
    "method-costs": docs_methods.costs,
    "method-matrix": docs_methods.matrix,
    "method-reasons": docs_methods.why_lossy,
    "method-json": docs_methods.described,
    **docs_cli.MAKERS,
    **docs_concepts.MAKERS,
    **docs_recipe.MAKERS,
    **docs_troubles.MAKERS,
}


def rewritten(text: str) -> str:
    """Fill every block of a page anew."""

    def fill(found: re.Match[str]) -> str:
        begin, name, arguments, end = found.groups()
        lines = MAKERS[name](*(arguments or "").split())
        return begin + "".join(f"{line}\n" for line in lines) + end

    return BLOCK.sub(fill, text)


def main() -> int:
    """Rewrite the pages that are named."""
    for page in map(Path, sys.argv[1:]):
        page.write_text(rewritten(page.read_text()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
