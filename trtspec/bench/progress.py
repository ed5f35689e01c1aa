"""How far is the measurement: a live view on a terminal, a line per block elsewhere."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import TYPE_CHECKING, Protocol

from trtspec.bench.records import WARM_UP_BLOCK, Block, Failure

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.table import Table

_REFRESH_SECONDS = 1.0


class Watcher(Protocol):
    """Is told how far a measurement is."""

    def block_started(self, arm: str, block: int, load: str) -> None:
        """Say that a block begins; block 0 is the warm-up.

        :param load: in words.
        """

    def request_finished(self) -> None:
        """Say that one more request of the block is done."""

    def block_finished(self, block: Block) -> None:
        """Say that a block is done."""

    def block_failed(self, failures: Sequence[Failure]) -> None:
        """Say that requests of a block brought no answer: its load is given up."""


class Silent:
    """A watcher that says nothing."""

    def block_started(self, arm: str, block: int, load: str) -> None:
        """Ignore the start of a block."""

    def request_finished(self) -> None:
        """Ignore a finished request."""

    def block_finished(self, block: Block) -> None:
        """Ignore a finished block."""

    def block_failed(self, failures: Sequence[Failure]) -> None:
        """Ignore failed requests."""


def block_name(arm: str, block: int, load: str, repeats: int) -> str:
    """Name a block for a reader."""
    which = "warm-up" if block == WARM_UP_BLOCK else f"block {block}/{repeats}"
    return f"{load}, {which}, {arm}"


class Lines:
    """Writes one line when a block is done."""

    def __init__(self, write: Callable[[str], None], repeats: int) -> None:
        """Take the function that writes a line."""
        self._write = write
        self._repeats = repeats
        self._load = ""

    def block_started(self, arm: str, block: int, load: str) -> None:
        """Remember how the load is called."""
        self._load = load

    def request_finished(self) -> None:
        """Say nothing yet."""

    def block_finished(self, block: Block) -> None:
        """Write what the block brought."""
        name = block_name(block.arm, block.block, self._load, self._repeats)
        self._write(
            f"{name}: {block.requests} requests, {block.output_tokens} tokens "
            f"in {block.wall_seconds:.1f} s"
        )

    def block_failed(self, failures: Sequence[Failure]) -> None:
        """Write that the load is given up, and the first reason."""
        first = failures[0]
        name = block_name(first.arm, first.block, self._load, self._repeats)
        what = " ".join(first.what.split())
        self._write(f"{name}: given up, {len(failures)} failed; {what}")


class Board:
    """A bar and the throughput of every arm so far, drawn at most once a second.

    :param live: does not refresh by itself.
    """

    def __init__(self, live: Live, requests: int, repeats: int) -> None:
        from rich.progress import (
            BarColumn,
            Progress,
            TaskProgressColumn,
            TextColumn,
            TimeRemainingColumn,
        )

        self._live = live
        self._repeats = repeats
        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(),
        )
        self._task = self._bar.add_task("bench", total=requests)
        self._rates: dict[str, dict[str, list[float]]] = defaultdict(dict)
        self._load = ""
        self._drawn = 0.0

    def block_started(self, arm: str, block: int, load: str) -> None:
        """Name the block."""
        self._load = load
        name = block_name(arm, block, load, self._repeats)
        self._bar.update(self._task, description=name)
        self._draw()

    def request_finished(self) -> None:
        """Move on by one request."""
        self._bar.advance(self._task)
        if time.monotonic() - self._drawn >= _REFRESH_SECONDS:
            self._draw()

    def block_finished(self, block: Block) -> None:
        """Take the block's throughput into the table."""
        if not block.warm_up:
            rates = self._rates[self._load].setdefault(block.arm, [])
            rates.append(block.output_tokens / block.wall_seconds)
        self._draw()

    def block_failed(self, failures: Sequence[Failure]) -> None:
        """Leave a line above the view."""
        from rich.text import Text

        what = f"{self._load}: given up, {failures[0].what}"
        self._live.console.print(Text(what, style="red"))

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        self._live.update(self._view(), refresh=True)

    def _view(self) -> RenderableType:
        from rich.console import Group

        return Group(*(self._table(load) for load in self._rates), self._bar)

    def _table(self, load: str) -> Table:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        table.add_column(Text(load), no_wrap=True)
        for header in ("output tokens/s", "blocks"):
            table.add_column(header, justify="right")
        for arm, rates in self._rates[load].items():
            table.add_row(Text(arm), f"{median(rates):.1f}", str(len(rates)))
        return table


@contextmanager
def watching(console: Console, requests: int, repeats: int) -> Iterator[Watcher]:
    """Give the watcher that suits the console.

    Names and what a server says are shown as they are: none of it is markup.

    No ratio is shown before the end: a run that is stopped when it looks good proves
    nothing.

    :param console: on standard error.
    :param requests: how many there are in all blocks, warm-up included.
    """
    from rich.text import Text

    if not console.is_terminal:
        # a file or pipe gets whole lines, however long
        yield Lines(lambda line: console.print(Text(line), soft_wrap=True), repeats)
        return
    from rich.live import Live

    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield Board(live, requests, repeats)


class Both:
    """Tells two watchers."""

    def __init__(self, first: Watcher, second: Watcher) -> None:
        """Take the two."""
        self._all = (first, second)

    def block_started(self, arm: str, block: int, load: str) -> None:
        """Tell both."""
        for watcher in self._all:
            watcher.block_started(arm, block, load)

    def request_finished(self) -> None:
        """Tell both."""
        for watcher in self._all:
            watcher.request_finished()

    def block_finished(self, block: Block) -> None:
        """Tell both."""
        for watcher in self._all:
            watcher.block_finished(block)

    def block_failed(self, failures: Sequence[Failure]) -> None:
        """Tell both."""
        for watcher in self._all:
            watcher.block_failed(failures)
