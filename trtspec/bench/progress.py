"""How far is the measurement: a bar on a terminal, a line per block elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from trtspec.bench.records import WARM_UP_BLOCK, Arm, Block

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

_REFRESH_SECONDS = 1.0


class Watcher(Protocol):
    """Is told how far a measurement is."""

    def block_started(self, arm: Arm, block: int, concurrency: int) -> None:
        """Say that a block begins; block 0 is the warm-up."""

    def request_finished(self) -> None:
        """Say that one more request of the block is done."""

    def block_finished(self, block: Block) -> None:
        """Say that a block is done."""


class Silent:
    """A watcher that says nothing."""

    def block_started(self, arm: Arm, block: int, concurrency: int) -> None:
        """Ignore the start of a block."""

    def request_finished(self) -> None:
        """Ignore a finished request."""

    def block_finished(self, block: Block) -> None:
        """Ignore a finished block."""


def block_name(arm: Arm, block: int, concurrency: int, repeats: int) -> str:
    """Name a block for a reader."""
    which = "warm-up" if block == WARM_UP_BLOCK else f"block {block}/{repeats}"
    return f"concurrency {concurrency}, {which}, {arm}"


class Lines:
    """Writes one line when a block is done."""

    def __init__(self, write: Callable[[str], None], repeats: int) -> None:
        """Take the function that writes a line."""
        self._write = write
        self._repeats = repeats

    def block_started(self, arm: Arm, block: int, concurrency: int) -> None:
        """Say nothing yet."""

    def request_finished(self) -> None:
        """Say nothing yet."""

    def block_finished(self, block: Block) -> None:
        """Write what the block brought."""
        name = block_name(block.arm, block.block, block.concurrency, self._repeats)
        self._write(
            f"{name}: {block.requests} requests, {block.output_tokens} tokens "
            f"in {block.wall_seconds:.1f} s"
        )


class Bar:
    """Moves a bar; drawn at most once a second, so that it costs no measurable time."""

    def __init__(self, progress: Progress, requests: int, repeats: int) -> None:
        """Take a progress display that does not refresh by itself."""
        self._progress = progress
        self._task = progress.add_task("bench", total=requests)
        self._repeats = repeats
        self._drawn = 0.0

    def block_started(self, arm: Arm, block: int, concurrency: int) -> None:
        """Name the block."""
        name = block_name(arm, block, concurrency, self._repeats)
        self._progress.update(self._task, description=name)
        self._progress.refresh()

    def request_finished(self) -> None:
        """Move on by one request."""
        self._progress.advance(self._task)
        now = time.monotonic()
        if now - self._drawn >= _REFRESH_SECONDS:
            self._drawn = now
            self._progress.refresh()

    def block_finished(self, block: Block) -> None:
        """Leave the bar as it is."""


@contextmanager
def watching(console: Console, requests: int, repeats: int) -> Iterator[Watcher]:
    """Give the watcher that suits the console.

    :param console: on standard error.
    :param requests: how many there are in all blocks, warm-up included.
    """
    if not console.is_terminal:
        yield Lines(lambda line: console.print(line, highlight=False), repeats)
        return
    from rich.progress import (
        BarColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        console=console,
        auto_refresh=False,
        transient=True,
    ) as progress:
        yield Bar(progress, requests, repeats)
