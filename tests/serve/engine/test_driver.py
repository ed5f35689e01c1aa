"""The engine's thread: what it is told, in which order, and what failures leave."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import asynccontextmanager

import pytest

from tests.serve.engine.fakes import FakeRunner, asked
from trtspec.errors import RunError, UsageError
from trtspec.serve.engine import EngineDriver, EngineFailedError, EngineThread
from trtspec.serve.engine.driver import FAILURES

SOON = 20.0


def driven(test):
    """Run a coroutine with a fake runner and the driver that owns it."""

    def run(*args, **options):
        async def inside():
            async with started() as (driver, runner):
                await test(driver, runner, *args, **options)

        asyncio.run(inside())

    run.__name__, run.__doc__ = test.__name__, test.__doc__
    return run


@asynccontextmanager
async def started(watch=lambda result: None):
    runner = FakeRunner()
    driver = EngineDriver(runner, watch)
    driver.start()
    try:
        yield driver, runner
    finally:
        runner.gate.set()
        await driver.close()


async def all_of(stream):
    return [chunk async for chunk in stream.chunks(time.monotonic() + SOON)]


async def until(condition):
    end = time.monotonic() + SOON
    while not condition():
        assert time.monotonic() < end
        await asyncio.sleep(0.002)


async def hold(driver, runner):
    """Have a request inside whose next step waits at the gate."""
    runner.gate.clear()
    runner.at_gate.clear()
    stream = driver.submit(asked("held", 4))
    await until(runner.at_gate.is_set)
    return stream


@driven
async def test_chunks_come_in_order_and_end_with_the_completion(driver, runner):
    chunks = await all_of(driver.submit(asked("a", 4)))
    assert [c.tokens for c in chunks] == [(0,), (1,), (2,), (3,)]
    assert chunks[-1].completion.tokens == [0, 1, 2, 3]
    assert all(c.completion is None for c in chunks[:-1])
    assert driver.streams == {}


@driven
async def test_only_its_own_thread_calls_the_runner(driver, runner):
    await all_of(driver.submit(asked("a")))
    await driver.close()
    assert len(runner.threads) == 1
    assert threading.get_ident() not in runner.threads


@driven
async def test_several_requests_are_read_together(driver, runner):
    chunks = await all_of(driver.submit(asked("a", 2), asked("b", 5)))
    by = {name: [c for c in chunks if c.request_id == name] for name in "ab"}
    assert (len(by["a"]), len(by["b"])) == (2, 5)


@driven
async def test_streams_get_their_own_chunks_only(driver, runner):
    streams = {
        name: driver.submit(asked(name, size))
        for name, size in zip("abc", (5, 2, 9), strict=True)
    }
    found = await asyncio.gather(*map(all_of, streams.values()))
    for name, chunks in zip(streams, found, strict=True):
        assert {c.request_id for c in chunks} == {name}
    assert list(map(len, found)) == [5, 2, 9]


@driven
async def test_commands_are_done_in_order_before_the_next_step(driver, runner):
    held = await hold(driver, runner)
    first, second = driver.submit(asked("a", 1)), driver.submit(asked("b", 1))
    driver.cancel("held")
    before = len(runner.told)
    runner.gate.set()
    await asyncio.gather(*map(all_of, (held, first, second)))
    assert runner.told[before:] == [
        ("step",),
        ("submit", "a"),
        ("submit", "b"),
        ("cancel", "held"),
        ("step",),
    ]


@driven
async def test_cancelled_before_it_joined(driver, runner):
    held = await hold(driver, runner)
    stream = driver.submit(asked("a", 50))
    driver.cancel("a")
    runner.gate.set()
    [chunk] = await all_of(stream)
    assert chunk.completion.finish_reason == "cancelled"
    assert chunk.completion.tokens == []
    assert (await all_of(held))[-1].completion.finish_reason == "length"


@driven
async def test_cancelled_meanwhile(driver, runner):
    stream = await hold(driver, runner)
    driver.cancel("held")
    runner.gate.set()
    *_, last = await all_of(stream)
    assert last.completion.finish_reason == "cancelled"
    assert len(last.completion.tokens) == 1


@driven
async def test_cancelling_what_has_ended_or_never_was_tells_nobody(driver, runner):
    await all_of(driver.submit(asked("a")))
    driver.cancel("a")
    driver.cancel("never")
    await all_of(driver.submit(asked("b")))
    assert not [what for what in runner.told if what[0] == "cancel"]


@driven
async def test_what_the_runner_refuses_is_told_to_that_stream_only(driver, runner):
    held = await hold(driver, runner)
    wrong = driver.submit(asked("wrong", prompt=()))
    right = driver.submit(asked("right"))
    runner.gate.set()
    with pytest.raises(UsageError, match="no tokens"):
        await all_of(wrong)
    assert len(await all_of(right)) == 3
    assert len(await all_of(held)) == 4


@driven
async def test_a_runner_that_breaks_in_submit_says_nothing_of_its_insides(
    driver, runner
):
    runner.refuses["a"] = KeyError("secret")
    with pytest.raises(EngineFailedError) as caught:
        await all_of(driver.submit(asked("a")))
    assert "secret" not in str(caught.value)


@driven
async def test_a_failed_step_ends_those_inside_and_no_others(driver, runner):
    held = await hold(driver, runner)
    runner.failures = [ValueError("insides")]
    later = driver.submit(asked("later"))
    runner.gate.set()
    with pytest.raises(EngineFailedError) as caught:
        await all_of(held)
    assert "insides" not in str(caught.value)
    assert len(await all_of(later)) == 3
    assert driver.broken is None
    assert driver.streams == {}


@driven
async def test_chunks_before_a_failure_are_read_first(driver, runner):
    stream = await hold(driver, runner)
    runner.failures = [None, ValueError("x")]
    runner.gate.set()
    await until(lambda: not driver.streams)
    chunks = stream.chunks(time.monotonic() + SOON)
    assert (await anext(chunks)).tokens == (0,)
    with pytest.raises(EngineFailedError):
        await anext(chunks)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (RuntimeError("CUDA out of memory. Tried 3 GiB"), "ran out of memory"),
        (MemoryError(), "ran out of memory"),
        (RunError("the target model's logits are not finite"), "not finite"),
        (KeyError("secret"), "the server's log has the reason"),
    ],
)
def test_failures_are_told_in_words_for_clients(error, words):
    @driven
    async def test(driver, runner):
        runner.failures = [error]
        with pytest.raises(EngineFailedError, match=words) as caught:
            await all_of(driver.submit(asked("a")))
        assert "3 GiB" not in str(caught.value)

    test()


@driven
async def test_so_many_failures_in_a_row_and_it_is_broken(driver, runner):
    for number in range(FAILURES):
        assert driver.broken is None
        runner.failures = [ValueError(str(number))]
        with pytest.raises(EngineFailedError):
            await all_of(driver.submit(asked(str(number))))
    assert str(driver.broken) == str(FAILURES - 1)
    with pytest.raises(EngineFailedError, match="broken"):
        driver.submit(asked("more"))


@driven
async def test_a_step_that_goes_well_counts_failures_anew(driver, runner):
    for number in range(FAILURES + 1):
        runner.failures = [ValueError("x")]
        with pytest.raises(EngineFailedError):
            await all_of(driver.submit(asked(f"bad {number}")))
        assert await all_of(driver.submit(asked(f"good {number}")))
    assert driver.broken is None


@driven
async def test_when_it_breaks_those_that_came_meanwhile_are_told_too(driver, runner):
    """And what the runner says of them later goes nowhere."""
    problems = []
    asyncio.get_running_loop().set_exception_handler(
        lambda loop, context: problems.append(context)
    )
    for number in range(FAILURES - 1):
        runner.failures = [ValueError("x")]
        with pytest.raises(EngineFailedError):
            await all_of(driver.submit(asked(str(number))))
    held = await hold(driver, runner)
    later, wrong = driver.submit(asked("later")), driver.submit(asked("w", prompt=()))
    runner.failures = [ValueError("x")]
    runner.gate.set()
    for stream in (held, later, wrong):
        with pytest.raises(EngineFailedError):
            await all_of(stream)
    assert driver.streams == {}
    await driver.close()
    await asyncio.sleep(0)
    assert problems == []


def test_every_step_is_watched_in_the_loops_thread():
    seen = []

    async def test():
        def watch(result):
            seen.append((threading.get_ident(), len(result.chunks)))

        async with started(watch) as (driver, _):
            await all_of(driver.submit(asked("a", 3)))
            return threading.get_ident()

    here = asyncio.run(test())
    assert seen == [(here, 1)] * 3


def test_a_watcher_sees_the_end_of_requests_nobody_reads():
    done = []

    async def test():
        def watch(result):
            done.extend(c.request_id for c in result.chunks if c.completion)

        async with started(watch) as (driver, _):
            driver.submit(asked("unread", 2))
            await until(lambda: done)

    asyncio.run(test())
    assert done == ["unread"]


@driven
async def test_idle_is_the_time_since_the_last_step_while_there_is_work(driver, runner):
    await asyncio.sleep(0.05)
    assert driver.idle_seconds() == 0.0
    stream = await hold(driver, runner)
    await asyncio.sleep(0.05)
    assert 0.04 < driver.idle_seconds() < SOON
    runner.gate.set()
    await all_of(stream)
    assert driver.idle_seconds() == 0.0


@driven
async def test_waiting_for_work_before_does_not_count_as_idle(driver, runner):
    await asyncio.sleep(0.5)
    runner.gate.clear()
    driver.submit(asked("a"))
    assert driver.idle_seconds() < 0.4


def test_close_frees_the_runner_and_ends_the_thread():
    async def test():
        async with started() as (driver, runner):
            pass
        assert runner.told[-1] == ("close",)
        assert driver._running.done()
        assert driver.broken is None

    asyncio.run(test())


def test_a_loop_that_is_gone_ends_the_thread():
    """Whoever forgets to close must not leave a thread that steps for nobody."""
    runner = FakeRunner()

    async def test():
        driver = EngineDriver(runner)
        driver.start()
        await hold(driver, runner)
        return driver

    driver = asyncio.run(test())
    runner.gate.set()
    driver._running.result(SOON)
    assert runner.closed.is_set()


def test_it_runs_in_the_thread_that_loaded_the_runner():
    thread = EngineThread()
    loaded_in = thread.call(threading.get_ident)

    async def test():
        runner = FakeRunner()
        driver = EngineDriver(runner, thread=thread)
        driver.start()
        await all_of(driver.submit(asked("a")))
        await driver.close()
        assert runner.threads == {loaded_in}

    asyncio.run(test())


@driven
async def test_abandoned_requests_end_with_an_error(driver, runner):
    held = await hold(driver, runner)
    later = driver.submit(asked("later"), asked("more"))
    driver.abandon()
    for stream in (held, later):
        with pytest.raises(EngineFailedError, match="the server ends"):
            await all_of(stream)
    assert driver.streams == {}


def test_a_step_that_does_not_end_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("trtspec.serve.engine.driver._END_SECONDS", 0.1)

    async def test():
        runner = FakeRunner()
        driver = EngineDriver(runner)
        driver.start()
        await hold(driver, runner)
        await driver.close()
        assert "does not end" in str(driver.broken)
        runner.gate.set()

    asyncio.run(test())


def test_a_driver_that_was_never_started_can_be_closed():
    asyncio.run(EngineDriver(FakeRunner()).close())
