"""What a front serves: pools of servers, and all that its routes share."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial

from trtspec.run.tokens import TextCodec
from trtspec.serve.http.api_key import ApiKeys
from trtspec.serve.http.phase import Phase
from trtspec.serve.http.request_log import RequestLog
from trtspec.serve.limits import ServeLimits
from trtspec.serve.metrics import Identity
from trtspec.serve.proxy.drafts import DraftReader, Get
from trtspec.serve.proxy.metrics import PoolMetrics, one_page
from trtspec.serve.proxy.pool import ON, Pool, PoolName
from trtspec.serve.proxy.routing import Router
from trtspec.serve.proxy.rules import Rules
from trtspec.serve.proxy.upstream import Upstream

READ_SECONDS = 1.0
"""Between two readings of a server's counters."""
HURRY_SECONDS, MANY_RECORDS = 0.1, 250
"""A server keeps 1000 records, a second's worth at 1 ms; with so many it is read
again soon."""
_ANSWER_SECONDS = 10.0
_log = logging.getLogger("trtspec.serve")


@dataclass
class ProxyService:
    """Pools behind one front.

    :param identities: of the artifacts, by pool.
    :param codec: counts the tokens of prompts; None if no rule looks at them.
    """

    pools: Mapping[PoolName, Pool]
    identities: Mapping[PoolName, Identity]
    rules: Rules = field(default_factory=Rules)
    codec: TextCodec | None = None
    limits: ServeLimits = field(default_factory=ServeLimits)
    keys: ApiKeys = field(default_factory=ApiKeys)
    log: RequestLog = field(default_factory=lambda: RequestLog(None))
    phase: Phase = field(default_factory=Phase)
    created: int = field(default_factory=lambda: int(time.time()))

    def __post_init__(self) -> None:
        self.router = Router(self.pools, self.rules)
        pools = self.pools.values()
        self.metrics = {
            pool.name: PoolMetrics(pool.model, self.identities[pool.name])
            for pool in pools
        }
        for pool in pools:
            self._watch(pool)
        self._readers: dict[PoolName, tuple[int, DraftReader]] = {}
        self._upstream: Upstream | None = None
        self._tasks: list[asyncio.Task[None]] = []

    def _watch(self, pool: Pool) -> None:
        inside = pool.admission
        self.metrics[pool.name].watch(lambda: inside.running, lambda: inside.queued)

    @property
    def main(self) -> Pool:
        """The pool that clients mean if they say nothing: on, or the only one."""
        return self.pools.get(ON) or next(iter(self.pools.values()))

    @property
    def upstream(self) -> Upstream:
        """The connections to the servers."""
        assert self._upstream is not None, "start comes first"
        return self._upstream

    def start(self) -> None:
        """Begin; to be called in the event loop."""
        loop = asyncio.get_running_loop()
        for pool in self.pools.values():
            pool.changed = partial(_soon, loop, self._follow)
        self._upstream = Upstream(self.limits.request_seconds)
        self._tasks = [
            asyncio.create_task(self._keep_reading(pool))
            for pool in self.pools.values()
        ]

    async def close(self) -> None:
        """Close all connections to the servers."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.upstream.close()

    async def came_up(self, name: PoolName, url: str) -> None:
        """Send requests to a pool's server from now on; its counters begin here."""
        pool = self.pools[name]
        reader = DraftReader(pool.screen.recipe, pool.screen.version)
        try:
            await reader.begin(self._getter(url))
        except Exception as error:  # noqa: BLE001 - figures are worth no failed start
            _log.warning("the counters of pool %s cannot be read: %s", name, error)
        pool.up(url)
        self._readers[name] = (pool.generation, reader)
        self._follow()

    def render(self) -> bytes:
        """Give the metrics of all pools in Prometheus' text format."""
        for pool in self.pools.values():
            taken = pool.ready and self.phase.ready
            self.metrics[pool.name].ready(taken)
        return one_page(metrics.render() for metrics in self.metrics.values())

    async def count_drafts(self, pool: Pool) -> int:
        """Read a server's counters once; gives how many records it had."""
        generation, reader = self._readers.get(pool.name, (0, None))
        if reader is None or not pool.ready or generation != pool.generation:
            return 0
        found = await reader.read(self._getter(pool.url))
        self.metrics[pool.name].counted(found)
        if found.note:
            _log.debug("drafts of pool %s: %s", pool.name, found.note)
        return reader.records

    def _follow(self) -> None:
        """Take requests as long as any pool does."""
        if self.phase.name == "draining":
            return
        if any(pool.ready for pool in self.pools.values()):
            self.phase.enter("ready")
        else:
            self.phase.enter("starting", self.main.why)

    async def _keep_reading(self, pool: Pool) -> None:
        """Be the only reader of a server's counters, for as long as we run."""
        records = 0
        while True:
            await asyncio.sleep(
                HURRY_SECONDS if records > MANY_RECORDS else READ_SECONDS
            )
            try:
                records = await self.count_drafts(pool)
            except Exception as error:  # noqa: BLE001 - it may be going down just now
                _log.debug("drafts of pool %s: %s", pool.name, error)
                records = 0

    def _getter(self, url: str) -> Get:
        async def get(path: str) -> tuple[int, bytes]:
            return await self.upstream.get(url + path, _ANSWER_SECONDS)

        return get


def _soon(loop: asyncio.AbstractEventLoop, function: Callable[[], None]) -> None:
    """Call a function in the event loop, from any thread, unless the loop has ended."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(function)
