"""Runs the commands that README and docs show, and lists those that are not run.

A block of commands is a fenced one of ``sh``, ``bash`` or ``console``, or an indented
one that calls a program. It is run with bash, unless the comment right above it says
why not:

    <!-- not run: needs a GPU -->      one of the words of WHY_NOT, and more if need be
    <!-- run: slow -->                 with the demo model: in the slow tests only
    <!-- run: exit 3 -->               not 0 is what it shows; 0|6: either will do
    <!-- generated: ... -->            docs_blocks.py makes it, and a test compares

    python scripts/docs_commands.py                          # what is not run, and why
    python scripts/docs_commands.py docs/quickstart.md       # run a page's commands
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from docs_pages import ROOT, Block, blocks, pages

SHELL = ("sh", "bash", "console", "shell")
PROGRAMS = (
    "trtspec",
    "python",
    "pip",
    "docker",
    "kubectl",
    "curl",
    "git",
    "./",
    "scripts/",
)
WHY_NOT = (
    "needs a GPU",
    "needs the network",
    "needs a running server",
    "goes on until it is ended",
    "names are placeholders",
    "takes minutes",
    "a test runs it",
    "changes this machine",
)
"""How a reason has to begin."""
LEFT_OUT = ("engines", "build", "dist", "runs", "tunings", "gpu-smoke")
"""Folders that a clone does not have."""
LARGE = 1_000_000
"""Bytes from which on a file is linked to and not copied."""
LIMIT_S = 300.0
"""Seconds that a block may take: far more than any does on an idle machine."""


class MarkerError(ValueError):
    """A comment above a block is not one of those that are known."""


@dataclass(frozen=True)
class Commands:
    """A block of commands of one page.

    :param state: ``run``, ``slow``, ``generated`` or ``not run``.
    :param reason: why it is not run.
    :param exit_codes: those that are expected.
    """

    page: Path
    line: int
    text: str
    state: str
    reason: str = ""
    exit_codes: tuple[int, ...] = (0,)

    @property
    def where(self) -> str:
        """Page and line, as editors read them."""
        name = self.page.relative_to(ROOT) if ROOT in self.page.parents else self.page
        return f"{name}:{self.line}"


def commands(page: Path) -> Iterator[Commands]:
    """List the blocks of commands of a page.

    :raises MarkerError: a marker is not understood.
    """
    for block in blocks(page.read_text(encoding="utf-8")):
        text = _typed(block)
        if text:
            yield _judged(page, block, text)


def _typed(block: Block) -> str:
    """Give what is typed of a block: all of it, or what follows a prompt."""
    lines = block.text.splitlines()
    if any(line.startswith("$ ") for line in lines):
        return "\n".join(_prompted(lines))
    if block.language in SHELL:
        return block.text
    calls = any(line.startswith(PROGRAMS) for line in lines)
    return block.text if not block.language and calls else ""


def _prompted(lines: Sequence[str]) -> Iterator[str]:
    goes_on = False
    for line in lines:
        if goes_on or line.startswith("$ "):
            yield line.removeprefix("$ ")
            goes_on = line.endswith("\\")


def _judged(page: Path, block: Block, text: str) -> Commands:
    state, _, rest = block.marker.partition(":")
    state, rest = state.strip(), rest.strip()
    if state == "generated":
        return Commands(page, block.line, text, "generated")
    if state == "not run":
        if not rest.startswith(WHY_NOT):
            raise MarkerError(
                f"{page}:{block.line}: {rest!r}; a reason begins with one of "
                f"{', '.join(WHY_NOT)}"
            )
        return Commands(page, block.line, text, "not run", rest)
    if state == "run":
        found = re.fullmatch(r"(slow)?(?:, )?(?:exit (\d+(?:\|\d+)*))?", rest)
        if not found or not rest:
            raise MarkerError(f"{page}:{block.line}: run: {rest!r}; slow, exit N")
        slow, codes = found.groups()
        expected = tuple(map(int, (codes or "0").split("|")))
        return Commands(page, block.line, text, slow or "run", exit_codes=expected)
    return Commands(page, block.line, text, "run")


@dataclass(frozen=True)
class Ran:
    """What came of one block."""

    commands: Commands
    code: int
    output: str
    seconds: float

    @property
    def fault(self) -> str:
        """What is wrong, in words; empty if it ended as it was to."""
        if self.code in self.commands.exit_codes:
            return ""
        expected = " or ".join(map(str, self.commands.exit_codes))
        return (
            f"{self.commands.where}: exit code {self.code}, not {expected}:\n"
            f"{self.commands.text}\n{self.output[-2000:]}"
        )


def workplace(folder: Path, engines: Path | None = None) -> Path:
    """Make a folder like a clone, in which commands may write what they like.

    :param engines: folder of built artifacts to use; else an empty one.
    """
    shutil.copytree(
        ROOT, folder, ignore=_left_out, copy_function=_copy, dirs_exist_ok=True
    )
    if engines is None:
        (folder / "engines").mkdir()
    else:
        (folder / "engines").symlink_to(engines)
    tools = folder / ".tools"
    tools.mkdir()
    for name, call in (("trtspec", " -m trtspec"), ("python", "")):
        (tools / name).write_text(f'#!/bin/sh\nexec {sys.executable}{call} "$@"\n')
        (tools / name).chmod(0o755)
    return folder


def _left_out(place: str, names: list[str]) -> set[str]:
    """Name what a clone lacks: caches, environments, what was built or measured."""
    hidden = {name for name in names if name[0] in "._" and name != ".gitignore"} - {
        "__init__.py",
        "__main__.py",
    }
    private = {name for name in hidden if name.endswith(".py")}  # _module.py
    made = set(LEFT_OUT) & set(names) if Path(place) == ROOT else set()
    return (hidden - private) | made


def _copy(source: str, target: str) -> None:
    if Path(source).stat().st_size > LARGE:
        Path(target).symlink_to(source)
    else:
        shutil.copy2(source, target)


def run(block: Commands, folder: Path) -> Ran:
    """Run one block in a folder that ``workplace`` made, without a network or a GPU."""
    environment = {
        **os.environ,
        "PATH": f"{folder / '.tools'}:{os.environ.get('PATH', '')}",
        "PYTHONPATH": str(folder),
        "HF_HUB_OFFLINE": "1",
        "COLUMNS": "80",
        "PAGER": "cat",
    }
    begin = time.monotonic()
    with subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", block.text],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=LIMIT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with all that it started
            process.wait()
            return Ran(block, 124, f"not done after {LIMIT_S:.0f} s", LIMIT_S)
    return Ran(block, process.returncode, output, time.monotonic() - begin)


def run_page(page: Path, states: Iterable[str], folder: Path) -> Iterator[Ran]:
    """Run a page's blocks in their order, in one folder, as a reader would."""
    for block in commands(page):
        if block.state in states:
            yield run(block, folder)


def not_run() -> Iterator[Commands]:
    """List what is not run, of all pages."""
    for page in pages():
        yield from (block for block in commands(page) if block.state == "not run")


def main() -> int:
    """Run the pages that are named, or list what is not run."""
    if not sys.argv[1:]:
        for block in not_run():
            first, *more = block.text.strip().splitlines()
            print(f"{block.where}: {block.reason}\n    {first}{' ...' if more else ''}")
        return 0
    faults = 0
    for name in sys.argv[1:]:
        with tempfile.TemporaryDirectory() as folder:
            place = workplace(Path(folder))
            for ran in run_page(Path(name).resolve(), ("run", "slow"), place):
                print(f"{ran.commands.where}: {ran.seconds:.1f} s {ran.fault}")
                faults += bool(ran.fault)
    return 1 if faults else 0


if __name__ == "__main__":
    # | head is no error; not in main(): who imports this may have sockets of its own
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
