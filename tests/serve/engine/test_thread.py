"""One thread does all the work, and outlives what fails in it."""

from __future__ import annotations

import threading

import pytest

from trtspec.serve.engine import EngineThread


def test_all_is_done_in_one_thread_in_order():
    thread, done = EngineThread(), []
    futures = [
        thread.start(lambda n=n: done.append((n, threading.get_ident())))
        for n in range(5)
    ]
    for future in futures:
        future.result(20)
    assert [n for n, _ in done] == list(range(5))
    assert len({ident for _, ident in done} | {threading.get_ident()}) == 2


def test_results_and_errors_come_back_and_it_goes_on():
    thread = EngineThread()
    assert thread.call(lambda: 5) == 5
    with pytest.raises(ZeroDivisionError):
        thread.call(lambda: 1 / 0)
    with pytest.raises(SystemExit):
        thread.call(lambda: exec("raise SystemExit"))
    assert thread.call(lambda: 6) == 6
