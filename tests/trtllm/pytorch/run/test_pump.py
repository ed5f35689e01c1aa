"""A source that hangs is given up after a while, on every Python."""

from __future__ import annotations

import asyncio
from concurrent import futures

import pytest

from tests.trtllm.pytorch.run.fakes import ScriptedSource
from trtspec.trtllm.pytorch.run import pump as module
from trtspec.trtllm.pytorch.run.pump import Pump


class OldTimeoutError(Exception):
    """What ``Future.result`` raises before Python 3.11: no TimeoutError."""


class Slow:
    """A future that is never done."""

    def __init__(self):
        self.cancelled = False

    def result(self, seconds):
        raise OldTimeoutError

    def cancel(self):
        self.cancelled = True


def test_work_that_takes_too_long_is_ended_on_an_older_python_too(monkeypatch):
    pump, slow = Pump(ScriptedSource(lambda request: ())), Slow()

    def never(work, loop):
        work.close()
        return slow

    with monkeypatch.context() as patched:
        patched.setattr(futures, "TimeoutError", OldTimeoutError)
        patched.setattr(asyncio, "run_coroutine_threadsafe", never)
        with pytest.raises(TimeoutError, match="not done within 2 s"):
            pump.run(asyncio.sleep(0), 2)
    assert slow.cancelled
    pump.close()


def test_a_source_that_cannot_close_keeps_nobody_waiting(open_on, monkeypatch):
    class Hangs(ScriptedSource):
        async def close(self):
            await asyncio.Event().wait()

    monkeypatch.setattr(module, "CLOSE_SECONDS", 0.05)
    runner = open_on(Hangs(lambda request: ()))
    runner.close()
    assert not runner.busy
