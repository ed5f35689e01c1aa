"""Progress: lines where nobody watches, a view that is rarely drawn on a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from tests.bench.fakes import FakeRunner, block, plan, run
from trtspec.bench import progress
from trtspec.bench.progress import Board, Both, Lines, block_name, watching
from trtspec.bench.records import Failure


def measured(console: Console, runner: FakeRunner | None = None) -> None:
    with watching(console, 12, 1) as watcher:
        run(runner or FakeRunner(), plan(4, repeats=1), watcher=watcher)


def test_blocks_are_named_for_a_reader():
    assert block_name("off", 0, "concurrency 4", 3) == "concurrency 4, warm-up, off"
    assert block_name("on", 2, "1 requests/s", 3) == "1 requests/s, block 2/3, on"


def test_without_a_terminal_there_is_a_line_per_block():
    stream = io.StringIO()
    measured(Console(file=stream, width=100))
    assert stream.getvalue().splitlines() == [
        "concurrency 1, warm-up, off: 2 requests, 10 tokens in 9.0 s",
        "concurrency 1, warm-up, on: 2 requests, 10 tokens in 6.0 s",
        "concurrency 1, block 1/1, off: 4 requests, 20 tokens in 18.0 s",
        "concurrency 1, block 1/1, on: 4 requests, 20 tokens in 12.0 s",
    ]


@pytest.mark.parametrize("terminal", [True, False])
def test_a_load_that_is_given_up_is_told(terminal):
    stream = io.StringIO()
    runner = FakeRunner()
    runner.before_advance = lambda r: r.cancel("p2/c1/off/1")
    measured(Console(file=stream, width=100, force_terminal=terminal), runner)
    text = stream.getvalue()
    assert "concurrency 1" in text
    assert "given up" in text
    assert "was cancelled" in text


def test_on_a_terminal_there_is_a_view_that_goes_away_and_shows_no_ratio():
    stream = io.StringIO()
    measured(Console(file=stream, width=100, force_terminal=True))
    text = stream.getvalue()
    assert "concurrency 1, block 1/1, on" in text
    assert "output tokens/s" in text
    assert "requests, 20 tokens" not in text
    assert "/ off" not in text


class Live:
    """Counts how often a view is drawn."""

    def __init__(self):
        self.drawn = 0
        self.console = Console(file=io.StringIO(), width=100)

    def update(self, view, refresh):
        self.drawn += 1
        self.console.print(view)

    @property
    def text(self):
        return self.console.file.getvalue()


def test_requests_move_the_bar_but_draw_it_once_a_second(monkeypatch):
    now = 1000.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    live = Live()
    board = Board(live, requests=10, repeats=3)
    board.block_started("on", 1, "concurrency 1")
    for _ in range(10):
        board.request_finished()
        now += 0.3
    # once at the block's start, then at 1.2 and 2.4 seconds
    assert live.drawn == 3


def test_the_view_has_the_median_of_counted_blocks_of_each_arm():
    live = Live()
    board = Board(live, requests=10, repeats=3)
    board.block_started("off", 0, "concurrency 1")
    board.block_finished(block(arm="off", block=0, output_tokens=1000))
    assert "100.0" not in live.text
    for tokens in (10, 20, 90):
        board.block_finished(block(arm="off", output_tokens=tokens))
    assert "2.0" in live.text.splitlines()[-3] or "2.0" in live.text


@pytest.mark.parametrize("terminal", [True, False])
def test_the_kind_of_watcher_follows_the_console(terminal):
    console = Console(file=io.StringIO(), force_terminal=terminal)
    with watching(console, 1, 1) as watcher:
        assert isinstance(watcher, Board if terminal else Lines)


def test_two_watchers_can_be_told_at_once():
    seen = ([], [])
    both = Both(*(Lines(said.append, 1) for said in seen))
    failure = Failure(arm="on", block=1, load="c1", prompt_id="p", what="broke")
    both.block_started("on", 1, "concurrency 1")
    both.request_finished()
    both.block_finished(block())
    both.block_failed([failure])
    assert seen[0] == seen[1]
    assert len(seen[0]) == 2


MARKUP = "[red]un[/x]closed :warning: [/]"


@pytest.mark.parametrize("terminal", [True, False])
def test_names_and_errors_are_no_markup(terminal):
    """A server's error with brackets in it must not end the run."""
    stream = io.StringIO()
    console = Console(file=stream, width=200, force_terminal=terminal)
    with watching(console, 2, 1) as watcher:
        for name in ("off", MARKUP):
            watcher.block_started(name, 1, MARKUP)
            watcher.request_finished()
            watcher.block_finished(block(arm=name))
        watcher.block_failed(
            [Failure(arm=MARKUP, block=1, load="c1", prompt_id="p", what=MARKUP)]
        )
    assert stream.getvalue().count(MARKUP) >= 2
    assert "⚠" not in stream.getvalue()


def test_a_long_line_of_a_log_stays_one():
    stream = io.StringIO()
    with watching(Console(file=stream, width=80), 2, 1) as watcher:
        watcher.block_started("a" * 200, 1, "concurrency 1")
        watcher.block_finished(block(arm="a" * 200))
        watcher.block_failed(
            [
                Failure(
                    arm="on", block=1, load="c1", prompt_id="p", what="two\nlines " * 30
                )
            ]
        )
    assert len(stream.getvalue().splitlines()) == 2
