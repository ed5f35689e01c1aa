"""How the servers of all pools are started, watched and ended, a thread for each."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from trtspec.build.artifact import Artifact
from trtspec.build.progress import SILENT, Progress
from trtspec.errors import TrtspecError
from trtspec.serve.proxy.pool import Pool
from trtspec.serve.proxy.service import ProxyService
from trtspec.trtllm.installation import Installation
from trtspec.trtllm.pytorch.launch.address import free_address
from trtspec.trtllm.pytorch.launch.patience import USUAL_PATIENCE, Patience
from trtspec.trtllm.pytorch.launch.server import Server
from trtspec.trtllm.pytorch.launch.serving import Serving, serving
from trtspec.trtllm.pytorch.launch.stop_request import StopRequest
from trtspec.trtllm.pytorch.launch.supervise import Restarts, supervise

LOOPBACK = "127.0.0.1"
_LOOK_SECONDS = 0.05


def _no_check(pool: Pool, server: Server) -> None:
    """Look at nothing."""


def _nobody(pool: Pool, server: Server) -> None:
    """Tell nobody."""


@dataclass(frozen=True, slots=True)
class PoolPlan:
    """What one pool's server is started with.

    :param log: a file of the user's; None for one in the cache.
    :param variables: of the server's environment, over ours.
    :param after_others: whether the pools before it are to be ready first.
    """

    pool: Pool
    artifact: Artifact
    log: Path | None = None
    variables: Mapping[str, str] = field(default_factory=dict, hash=False)
    after_others: bool = False


@dataclass(frozen=True, slots=True)
class Launch:
    """How servers are started and looked after.

    :param check: looks at a server that has come up, before it gets requests; a
        RunError of it counts as a start that failed. Called in the server's thread.
    :param came_up: told of a server that takes requests; in the same thread.
    """

    installation: Installation
    patience: Patience = USUAL_PATIENCE
    restarts: Restarts = field(default_factory=Restarts)
    check: Callable[[Pool, Server], None] = _no_check
    came_up: Callable[[Pool, Server], None] = _nobody
    progress: Progress = SILENT


class Keeper:
    """Keeps the server of one pool; its thread lives as long as the server.

    :param before: keepers whose servers must be ready first.
    :ivar failure: why it has ended; None if somebody asked for it.
    """

    def __init__(
        self,
        service: ProxyService,
        plan: PoolPlan,
        launch: Launch,
        before: Sequence[Keeper] = (),
    ) -> None:
        self._service, self._plan, self._launch = service, plan, launch
        self._before = before
        self._progress = _named(launch.progress, plan.pool, len(service.pools))
        self._loop: asyncio.AbstractEventLoop | None = None
        name = f"keeper of {plan.pool.name}"
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self.stop = StopRequest()
        self.failure: Exception | None = None
        self.was_ready = threading.Event()

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin.

        :param loop: the service's.
        """
        self._loop = loop
        self._thread.start()

    @property
    def ended(self) -> bool:
        """Whether its server is gone for good."""
        return self._loop is not None and not self._thread.is_alive()

    def _run(self) -> None:
        pool = self._plan.pool
        try:
            if self._wait_for_others():
                self._keep()
        except Exception as error:  # noqa: BLE001 - raised where its end is seen
            self.failure = error
        finally:
            pool.end(_words(self.failure))

    def _wait_for_others(self) -> bool:
        """Wait for the servers before this one; whether they are ready."""
        return all(self._is_ready(keeper) for keeper in self._before)

    def _is_ready(self, keeper: Keeper) -> bool:
        while not keeper.was_ready.is_set():
            if self.stop.pause(_LOOK_SECONDS) or keeper.ended:
                return False
        return True

    def _keep(self) -> None:
        plan, launch = self._plan, self._launch
        with serving(
            plan.artifact,
            launch.installation,
            host=LOOPBACK,
            log=plan.log,
            patience=launch.patience,
            stop=self.stop,
            progress=self._progress,
            variables=plan.variables,
        ) as made:
            self._progress.line(
                f"starting trtllm-serve behind this server; log {made.log}"
            )
            supervise(
                partial(_somewhere_else, made),
                self._came_up,
                launch.restarts,
                self.stop,
                self._progress,
                went_down=self._went_down,
            )

    def _came_up(self, server: Server) -> None:
        pool = self._plan.pool
        self._launch.check(pool, server)
        assert self._loop is not None, "start comes first"
        told = self._service.came_up(pool.name, server.url)
        asyncio.run_coroutine_threadsafe(told, self._loop).result()
        self.was_ready.set()
        self._launch.came_up(pool, server)

    def _went_down(self, failure: TrtspecError, wait: float) -> None:
        self._plan.pool.down(_words(failure), wait)


class Fleet:
    """The keepers of all pools.

    :param plans: in the order in which they start.
    """

    def __init__(
        self, service: ProxyService, plans: Sequence[PoolPlan], launch: Launch
    ) -> None:
        self.keepers: list[Keeper] = []
        for plan in plans:
            before = tuple(self.keepers) if plan.after_others else ()
            self.keepers.append(Keeper(service, plan, launch, before))

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start all servers."""
        for keeper in self.keepers:
            keeper.start(loop)

    @property
    def failed(self) -> bool:
        """Whether any server is gone for good."""
        return any(keeper.ended for keeper in self.keepers)

    @property
    def ended(self) -> bool:
        """Whether all of them are."""
        return all(keeper.ended for keeper in self.keepers)

    def stop(self) -> None:
        """Ask all of them to end; once more, and they are killed."""
        for keeper in self.keepers:
            keeper.stop.make()

    def failures(self) -> Iterator[Exception]:
        """Give why they ended, those that were not asked to."""
        return (k.failure for k in self.keepers if k.failure is not None)


def _somewhere_else(made: Serving) -> Server:
    """Give a server on a free port of its own.

    The port of one that was killed is not free for a minute: see ``is_closing``.
    """
    return replace(made, address=free_address(LOOPBACK)).make()


def _words(failure: Exception | None) -> str:
    """Say in a line what happened to a server; clients read it."""
    if failure is None:
        return "it has been stopped"
    if isinstance(failure, TrtspecError):
        return failure.problems[0].what.splitlines()[0]
    return type(failure).__name__


def _named(progress: Progress, pool: Pool, pools: int) -> Progress:
    """Say which pool a line is about, if there are several."""
    if pools == 1:
        return progress

    def line(text: str) -> None:
        progress.line(f"{pool.name}: {text}")

    def status(text: str) -> None:
        progress.status(f"{pool.name}: {text}" if text else text)

    return Progress(line, status, progress.news_only)
