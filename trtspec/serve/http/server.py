"""How an application is served: a socket, uvicorn, and an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import resource
import socket
import time
from collections.abc import Callable, Iterator

import uvicorn

from trtspec.errors import UsageError
from trtspec.serve.http.connections import bounded, drop_stalled
from trtspec.serve.http.door import Door
from trtspec.serve.limits import ServeLimits

_LOOK_SECONDS = 0.05
_LAST_WRITES_SECONDS = 5
_STALLED_LOOKS = 20
"""Looks at connections while one may be stalled."""
_SPARE_FILES = 256
_BACKLOG = 2048
_ACCEPTED_AT_ONCE = 64
"""Connections that are taken before the first of them can be turned away."""


def listen(host: str, port: int) -> socket.socket:
    """Take a port; it is ours from then on, though nobody is answered yet.

    :param port: 0 for a free one.
    :raises UsageError: if it is taken, or not ours to take.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle off only where the protocol is named
    taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((host, port))
        taken.listen(_BACKLOG)
    except OSError as error:
        taken.close()
        raise _refusal(host, port, error) from error
    taken.setblocking(False)
    return taken


class _Quiet(uvicorn.Server):
    """uvicorn without its own idea of signals: the command has one."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone."""
        yield


class HttpServer:
    """Serves one application on a socket until it is told to end.

    :param door: its phase is set to draining at the end, which waits for the requests
        inside.
    """

    def __init__(self, door: Door, taken: socket.socket, limits: ServeLimits) -> None:
        most = _with_files(limits.connections)
        protocol = bounded(most, limits.head_seconds)
        config = uvicorn.Config(
            door,
            http=protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            backlog=_ACCEPTED_AT_ONCE,
            timeout_graceful_shutdown=_LAST_WRITES_SECONDS,
        )
        self._server = _Quiet(config)
        self._socket, self._door = taken, door
        self._write_seconds = limits.write_seconds
        self._task: asyncio.Task[None] | None = None
        self._looking: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to answer."""
        self._task = asyncio.create_task(self._server.serve([self._socket]))
        while not self._server.started and not self._task.done():
            await asyncio.sleep(0.01)
        if self._task.done():
            self._task.result()
        self._socket.listen(_BACKLOG)  # asyncio set it to what is taken at once
        self._looking = asyncio.create_task(self._look())

    @property
    def failed(self) -> bool:
        """Whether it ended by itself."""
        return self._task is not None and self._task.done()

    async def drain(self, seconds: float, hurry: Callable[[], bool]) -> bool:
        """Take no more requests, and wait for those inside.

        :param hurry: asked meanwhile whether to wait no longer.
        :returns: whether all of them were done.
        """
        self._door.phase.enter("draining", "the server ends")
        end = time.monotonic() + seconds
        while self._door.inside and time.monotonic() < end and not hurry():
            await asyncio.sleep(_LOOK_SECONDS)
        return not self._door.inside

    async def stop(self) -> None:
        """Close the socket and the connections; what was written still goes out."""
        self._server.should_exit = True
        if self._task is not None:
            await self._task
        if self._looking is not None:
            self._looking.cancel()

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(self._write_seconds / _STALLED_LOOKS)
            drop_stalled(self._server.server_state.connections, self._write_seconds)


def _with_files(connections: int) -> int:
    """Have a file descriptor for every connection, as far as the system allows.

    :returns: connections that there are descriptors for.
    """
    beside = _ACCEPTED_AT_ONCE + _SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= connections + beside:
        return connections
    unlimited = hard == resource.RLIM_INFINITY
    most = connections + beside if unlimited else min(connections + beside, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    return max(1, most - beside)


def _refusal(host: str, port: int, error: OSError) -> UsageError:
    if error.errno == errno.EADDRINUSE:
        return UsageError(
            f"port {port} is in use",
            where="--port",
            action="stop that program, or choose another port; 0 chooses a free one",
        )
    if error.errno == errno.EACCES:
        return UsageError(
            f"port {port} is not open to this user",
            where="--port",
            allowed="1024 and above",
        )
    return UsageError(
        f"cannot listen on {host!r}: {error.strerror or error}",
        where="--host",
        allowed="an address of this machine, such as 127.0.0.1 or 0.0.0.0",
    )
