"""How servers of several pools are started, watched and ended; the front with them."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import httpx
import pytest

from tests.serve.proxy.rig import FakeServer, identity, pool, run, until
from trtspec.build.progress import Progress
from trtspec.errors import RunError
from trtspec.serve.http.server import listen
from trtspec.serve.proxy import fleet as module
from trtspec.serve.proxy.fleet import Fleet, Launch, PoolPlan
from trtspec.serve.proxy.front import FrontCourse, serve_pools
from trtspec.serve.proxy.pool import OFF, ON
from trtspec.serve.proxy.service import ProxyService


class Stage:
    """What stands in for the launcher: servers that come up when a test says so.

    :ivar may: set, the pool's server comes up.
    :ivar dies: set, it dies.
    """

    def __init__(self, monkeypatch, urls):
        self.urls, self.began, self.told = urls, [], []
        self.may = {name: threading.Event() for name in urls}
        self.dies = {name: threading.Event() for name in urls}
        self.gone, self.kills = [], 0
        monkeypatch.setattr(module, "serving", self._serving)
        monkeypatch.setattr(module, "supervise", self._supervise)

    @contextmanager
    def _serving(self, artifact, installation, **settings):
        self.began.append(artifact)
        yield SimpleNamespace(name=artifact, log="its.log", settings=settings)
        self.gone.append(artifact)

    def _supervise(self, make, came_up, restarts, stop, progress, *, went_down):
        (made,) = make.args
        name = made.name
        while not self.may[name].is_set():
            if stop.pause(0.01):
                return
        came_up(SimpleNamespace(url=self.urls[name], pid=1, log="its.log"))
        while not stop.pause(0.01):
            if self.dies[name].is_set():
                failure = RunError(f"{name} died\n  | its log")
                went_down(failure, 0.0)
                raise failure

    def fleet(self, names, *, after_others=False, **launch):
        pools = {name: pool(name) for name in names}
        identities = {name: identity(one) for name, one in pools.items()}
        self.service = ProxyService(pools, identities)
        plans = [
            PoolPlan(pools[name], name, after_others=after_others) for name in names
        ]
        progress = Progress(self.told.append)
        found = Launch(None, progress=progress, **launch)
        return Fleet(self.service, plans, found)


@contextmanager
def serving(stage, fleet, grace=5.0):
    """Run a front in a thread; gives its URL, its stops and what it raised."""
    taken = listen("127.0.0.1", 0)
    at = SimpleNamespace(stops=0, error=None)
    at.url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    course = FrontCourse(lambda: at.stops, stage.told.append, grace)

    def work():
        try:
            serve_pools(stage.service, taken, fleet, course)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            at.error = error

    at.thread = threading.Thread(target=work)
    at.thread.start()
    try:
        yield at
    finally:
        at.stops += 1
        at.thread.join(60)
        assert not at.thread.is_alive()


def wait(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def status(at, path="/ready"):
    try:
        return httpx.get(at.url + path, timeout=60).status_code
    except httpx.TransportError:
        return None


def asks(at, **body):
    return httpx.post(
        f"{at.url}/v1/completions",
        json={"model": "tiny-on", "prompt": "a", **body},
        timeout=120,
    )


def test_port_answers_at_once_and_says_that_it_is_not_ready(monkeypatch):
    async def main():
        async with FakeServer().running() as server:
            stage = Stage(monkeypatch, {ON: server.url})
            with serving(stage, stage.fleet([ON])) as at:
                await asyncio.to_thread(wait, lambda: status(at, "/health") == 200)
                assert await asyncio.to_thread(status, at) == 503
                refused = await asyncio.to_thread(asks, at)
                assert refused.status_code == 503
                assert refused.headers["retry-after"]
                stage.may[ON].set()
                await asyncio.to_thread(wait, lambda: status(at) == 200)
            assert at.error is None
            assert stage.gone == [ON]

    run(main)()


def test_pools_that_share_gpus_start_one_after_the_other(monkeypatch):
    async def main():
        async with FakeServer().running() as on, FakeServer().running() as off:
            stage = Stage(monkeypatch, {ON: on.url, OFF: off.url})
            with serving(stage, stage.fleet([ON, OFF], after_others=True)) as at:
                await until(lambda: stage.began == [ON])
                await asyncio.sleep(0.2)
                assert stage.began == [ON]
                stage.may[ON].set()
                await until(lambda: stage.began == [ON, OFF])
                stage.may[OFF].set()
                service = stage.service
                await until(lambda: all(p.ready for p in service.pools.values()))
            assert at.error is None
            assert sorted(stage.gone) == [OFF, ON]

    run(main)()


def test_end_before_anything_is_ready_waits_for_nobody(monkeypatch):
    stage = Stage(monkeypatch, {ON: "http://x", OFF: "http://x"})
    with serving(stage, stage.fleet([ON, OFF], after_others=True)) as at:
        wait(lambda: stage.began == [ON])
    assert at.error is None
    assert stage.began == stage.gone == [ON]


def test_server_that_is_gone_for_good_ends_it_all_and_says_why(monkeypatch):
    async def main():
        async with FakeServer().running() as on, FakeServer().running() as off:
            stage = Stage(monkeypatch, {ON: on.url, OFF: off.url})
            for may in stage.may.values():
                may.set()
            with serving(stage, stage.fleet([ON, OFF])) as at:
                await asyncio.to_thread(wait, lambda: status(at) == 200)
                service = stage.service
                await until(lambda: all(p.ready for p in service.pools.values()))
                off.gate.clear()
                wish = {"speculation": {"enabled": False}}
                inside = asyncio.create_task(
                    asyncio.to_thread(asks, at, temperature=0, **wish)
                )
                await until(lambda: off.open == 1)
                stage.dies[ON].set()
                await until(lambda: stage.service.phase.name == "draining")
                off.gate.set()
                # what the other pool had is done before the end
                assert (await inside).status_code == 200
                await asyncio.to_thread(at.thread.join, 60)
            assert isinstance(at.error, RunError)
            assert "on died" in str(at.error)
            assert stage.gone == [OFF]  # that of on was left by its error
            assert stage.service.pools[ON].why == "on died"  # no lines of a log

    run(main)()


def test_what_is_not_done_in_time_is_ended_with_its_server(monkeypatch):
    async def main():
        async with FakeServer().running() as server:
            stage = Stage(monkeypatch, {ON: server.url})
            stage.may[ON].set()
            with serving(stage, stage.fleet([ON]), grace=0.3) as at:
                await asyncio.to_thread(wait, lambda: status(at) == 200)
                server.gate.clear()
                inside = asyncio.create_task(asyncio.to_thread(asks, at, temperature=0))
                await until(lambda: server.open == 1)
                at.stops += 1
                await until(lambda: stage.gone == [ON])
                server.vanish = True  # as a server does that is killed
                server.gate.set()
                answer = await inside
            assert answer.status_code in (502, 503)
            assert any("they were not done in time" in line for line in stage.told)

    run(main)()


@pytest.mark.parametrize("several", [False, True])
def test_lines_say_which_pool_if_there_are_several(monkeypatch, several):
    names = [ON, OFF] if several else [ON]
    stage = Stage(monkeypatch, dict.fromkeys(names, "http://x"))
    with serving(stage, stage.fleet(names)):
        wait(lambda: len(stage.began) == len(names))
    said = [line for line in stage.told if "starting trtllm-serve" in line]
    assert all(line.startswith(("on: ", "off: ")) == several for line in said)


def test_check_that_fails_counts_as_a_start_that_failed(monkeypatch):
    async def main():
        async with FakeServer().running() as server:
            stage = Stage(monkeypatch, {ON: server.url})
            stage.may[ON].set()

            def check(one, it):
                raise RunError("the canary failed")

            with serving(stage, stage.fleet([ON], check=check)) as at:
                await asyncio.to_thread(at.thread.join, 60)
            assert "the canary failed" in str(at.error)
            assert not stage.service.pools[ON].ready

    run(main)()
