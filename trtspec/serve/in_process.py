"""From a loaded runner to a service on a port, until somebody asks for an end."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from dataclasses import dataclass

from trtspec.errors import RunError
from trtspec.serve.http.app import application
from trtspec.serve.http.server import HttpServer
from trtspec.serve.service import Service

_LOOK_SECONDS = 0.05
_LAST_ANSWERS_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class Course:
    """What happens around a service; all of it is called beside the event loop.

    :param check: called when the server answers, before it is ready: the canary. What
        it raises ends the server.
    :param came_up: told that it is ready.
    :param stops: how often an end was asked for until now.
    :param say: takes a line for people.
    :param grace: seconds that requests in flight get to finish.
    """

    check: Callable[[], None]
    came_up: Callable[[], None]
    stops: Callable[[], int]
    say: Callable[[str], None]
    grace: float


def serve(service: Service, taken: socket.socket, course: Course) -> None:
    """Serve until an end is asked for.

    :param taken: a socket that listens; it is closed.
    :raises RunError: if the engine broke.
    :raises TrtspecError: as ``course.check`` does.
    """
    asyncio.run(_serve(service, taken, course))


async def _serve(service: Service, taken: socket.socket, course: Course) -> None:
    server = HttpServer(application(service), taken, service.limits)
    service.driver.start()
    try:
        await server.start()
        if await _come_up(service, course):
            await _wait(service, server, course)
            await _end(service, server, course)
    finally:
        await server.stop()
        await service.close()
    if service.driver.broken is not None:
        raise RunError(
            f"the engine broke: {service.driver.broken}",
            action="see the errors above; start the server again",
        ) from service.driver.broken


async def _come_up(service: Service, course: Course) -> bool:
    """Check the service; whether it is ready, and not to end already."""
    check = asyncio.create_task(asyncio.to_thread(course.check))
    while not check.done():
        if course.stops():
            # the thread ends with the connections that it waits for
            return False
        await asyncio.sleep(_LOOK_SECONDS)
    check.result()
    service.phase.enter("ready")
    course.came_up()
    return True


async def _wait(service: Service, server: HttpServer, course: Course) -> None:
    while not course.stops():
        if service.driver.broken is not None or server.failed:
            return
        await asyncio.sleep(_LOOK_SECONDS)


async def _end(service: Service, server: HttpServer, course: Course) -> None:
    asked = course.stops()
    course.say(f"stopping; requests in flight get {course.grace:g} s")
    if not await server.drain(course.grace, lambda: course.stops() > asked):
        again = course.stops() > asked
        why = "asked to by another signal" if again else "they were not done in time"
        course.say(f"requests in flight are cancelled: {why}")
        for request_id in tuple(service.driver.streams):
            service.driver.cancel(request_id)
        if not await server.drain(_LAST_ANSWERS_SECONDS, lambda: False):
            service.driver.abandon()
            await server.drain(_LAST_ANSWERS_SECONDS, lambda: False)
