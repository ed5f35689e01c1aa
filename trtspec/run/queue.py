"""Which requests run and which wait: a queue, places, joining, leaving, cancelling."""

from __future__ import annotations

import time
from collections import deque
from itertools import islice
from typing import Generic, TypeVar

from trtspec.errors import UsageError
from trtspec.run.running import Running

RunningT = TypeVar("RunningT", bound=Running)


class RequestQueue(Generic[RunningT]):
    """The requests of one runner.

    :param places: requests that may run at once.
    """

    def __init__(self, places: int) -> None:
        self._places = places
        self.waiting: deque[RunningT] = deque()
        self.running: list[RunningT] = []
        """A backend may reorder it, and takes out what has ended."""

    def __bool__(self) -> bool:
        return bool(self.waiting or self.running)

    @property
    def next(self) -> list[RunningT]:
        """The waiting requests for which there is a place."""
        free = max(0, self._places - len(self.running))
        return list(islice(self.waiting, free))

    def submit(self, request: RunningT) -> None:
        """Queue a request; it joins as soon as there is a place.

        :raises UsageError: if another one of that id waits or runs.
        """
        name = request.request.id
        if any(name == other.request.id for other in (*self.waiting, *self.running)):
            raise UsageError(
                f"there is a request {name!r} already",
                where=f"request {name}",
                allowed="an id that no waiting or running request has",
            )
        self.waiting.append(request)

    def join(self, count: int) -> list[RunningT]:
        """Let the first ``count`` waiting requests run."""
        joined = [self.waiting.popleft() for _ in range(count)]
        now = time.perf_counter()
        for request in joined:
            request.completion.joined_at = now
        self.running += joined
        return joined

    def cancel(self, request_id: str) -> None:
        """Mark a request as cancelled; unknown ids are ignored."""
        for request in (*self.running, *self.waiting):
            if request.request.id == request_id:
                request.cancelled = True

    def take_cancelled(self) -> list[RunningT]:
        """Give the cancelled requests that have not ended; they wait no more.

        Those that run keep their place until the backend frees it.
        """
        everyone = (*self.running, *self.waiting)
        cancelled = [r for r in everyone if r.cancelled and not r.finished]
        self.waiting = deque(r for r in self.waiting if not r.cancelled)
        return cancelled

    def clear(self) -> None:
        """Forget all requests."""
        self.waiting.clear()
        self.running.clear()
