"""One thread does all the work, and outlives what fails in it."""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

from tests.serve.serving import until
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


def test_it_ends_behind_what_was_given_before():
    thread = EngineThread()
    ident = thread.call(threading.current_thread)
    last = thread.start(lambda: 7)
    thread.end()
    assert last.result(20) == 7
    ident.join(20)
    assert not ident.is_alive()


def test_what_was_done_is_let_go():
    class Model:
        def run(self) -> None:
            pass

    thread, model = EngineThread(), Model()
    seen = weakref.ref(model)
    thread.call(model.run)
    del model
    gc.collect()
    until(lambda: seen() is None, 5)
