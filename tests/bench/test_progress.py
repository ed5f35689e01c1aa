"""Progress: lines where nobody watches, a bar that is rarely drawn on a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tests.bench.fakes import FakeRunner, plan
from trtspec.bench import progress
from trtspec.bench.measure import measure
from trtspec.bench.progress import Bar, Lines, block_name, watching


def measured(console: Console) -> None:
    runner, wanted = FakeRunner(), plan(4, repeats=1)
    with watching(console, wanted.requests, 1) as watcher:
        measure(runner, wanted, watcher, clock=runner.clock)


def test_blocks_are_named_for_a_reader():
    assert block_name("off", 0, 4, 3) == "concurrency 4, warm-up, off"
    assert block_name("on", 2, 1, 3) == "concurrency 1, block 2/3, on"


def test_without_a_terminal_there_is_a_line_per_block():
    stream = io.StringIO()
    measured(Console(file=stream, width=100))
    assert stream.getvalue().splitlines() == [
        "concurrency 1, warm-up, off: 2 requests, 10 tokens in 9.0 s",
        "concurrency 1, warm-up, on: 2 requests, 10 tokens in 6.0 s",
        "concurrency 1, block 1/1, off: 4 requests, 20 tokens in 18.0 s",
        "concurrency 1, block 1/1, on: 4 requests, 20 tokens in 12.0 s",
    ]


def test_on_a_terminal_there_is_a_bar_that_goes_away():
    stream = io.StringIO()
    measured(Console(file=stream, width=100, force_terminal=True))
    text = stream.getvalue()
    assert "concurrency 1, block 1/1, on" in text
    assert "requests, 20 tokens" not in text


class Counting:
    """Counts what a bar asks of its display."""

    def __init__(self):
        self.advanced = self.refreshed = 0
        self.total = None

    def add_task(self, description, total):
        self.total = total
        return 0

    def update(self, task, description):
        self.description = description

    def advance(self, task):
        self.advanced += 1

    def refresh(self):
        self.refreshed += 1


def test_requests_move_the_bar_but_draw_it_once_a_second(monkeypatch):
    now = 1000.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    display = Counting()
    bar = Bar(display, requests=10, repeats=3)
    bar.block_started("on", 1, 1)
    for _ in range(10):
        bar.request_finished()
        now += 0.3
    assert display.total == display.advanced == 10
    # once at the block's start, then at 0, 1.2 and 2.4 seconds
    assert display.refreshed == 4


@pytest.mark.parametrize("terminal", [True, False])
def test_the_kind_of_watcher_follows_the_console(terminal):
    console = Console(file=io.StringIO(), force_terminal=terminal)
    with watching(console, 1, 1) as watcher:
        assert isinstance(watcher, Bar if terminal else Lines)
