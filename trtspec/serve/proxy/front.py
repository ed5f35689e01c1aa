"""From pools to a service on a port, until somebody asks for an end."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass

from trtspec.errors import TrtspecError
from trtspec.serve.http.server import HttpServer
from trtspec.serve.proxy.fleet import Fleet
from trtspec.serve.proxy.routes import application
from trtspec.serve.proxy.service import ProxyService

_LOOK_SECONDS = 0.05
_LAST_ANSWERS_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class FrontCourse:
    """What happens around a front.

    :param stops: how often an end was asked for until now.
    :param say: takes a line for people.
    :param grace: seconds that requests in flight get to finish.
    """

    stops: Callable[[], int]
    say: Callable[[str], None]
    grace: float


def serve_pools(
    service: ProxyService, taken: socket.socket, fleet: Fleet, course: FrontCourse
) -> None:
    """Serve until an end is asked for, with no server left running after it.

    The port answers from the beginning: until a pool is ready with 503, as ``/ready``
    does. A pool whose server is gone for good ends the whole.

    :param taken: a socket that listens; it is closed.
    :raises TrtspecError: as ``supervise`` does.
    """
    asyncio.run(_serve(service, taken, fleet, course))
    for failure in fleet.failures():
        if isinstance(failure, TrtspecError):
            raise failure
        raise RuntimeError("a keeper failed") from failure


async def _serve(
    service: ProxyService, taken: socket.socket, fleet: Fleet, course: FrontCourse
) -> None:
    service.start()
    server = HttpServer(application(service), taken, service.limits)
    try:
        await server.start()
        fleet.start(asyncio.get_running_loop())
        while not (course.stops() or fleet.failed or server.failed):
            await asyncio.sleep(_LOOK_SECONDS)
        await _end(server, fleet, course)
    finally:
        await _stop_all(fleet, course)
        await server.stop()
        await service.close()


async def _end(server: HttpServer, fleet: Fleet, course: FrontCourse) -> None:
    """Take no more requests, and wait for those inside; else end their servers."""
    asked = course.stops()
    course.say(f"stopping; requests in flight get {course.grace:g} s")
    if await server.drain(course.grace, lambda: course.stops() > asked):
        return
    again = course.stops() > asked
    why = "asked to by another signal" if again else "they were not done in time"
    course.say(f"requests in flight are ended: {why}")
    while not fleet.ended:
        fleet.stop()  # once more each time: the servers are killed
        await asyncio.sleep(_LOOK_SECONDS)
    await server.drain(_LAST_ANSWERS_SECONDS, lambda: False)


async def _stop_all(fleet: Fleet, course: FrontCourse) -> None:
    """End all servers; another signal kills them."""
    fleet.stop()
    asked = course.stops()
    while not fleet.ended:
        if course.stops() > asked:
            asked = course.stops()
            fleet.stop()
        await asyncio.sleep(_LOOK_SECONDS)
