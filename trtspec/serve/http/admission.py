"""How many requests are let in, and when the others should come again."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

from trtspec.serve.openai.errors import TOO_MANY, RefusalError

_WEIGHT = 0.2
_LONGEST_WAIT = 60


class Admission:
    """Counts what is in the engine, and refuses what would wait too long.

    :param places: requests that run at once.
    :param waiting: requests that may wait beside them.
    """

    def __init__(self, places: int, waiting: int) -> None:
        self._places, self._waiting = places, waiting
        self._usual_seconds = 1.0
        self.inside = 0

    @property
    def most(self) -> int:
        """Answers that fit in if nobody else is inside."""
        return self._places + self._waiting

    @property
    def running(self) -> int:
        """Requests that have a place, as far as is known from outside the engine."""
        return min(self.inside, self._places)

    @property
    def queued(self) -> int:
        """Requests beyond the places."""
        return max(0, self.inside - self._places)

    @contextmanager
    def enter(self, count: int = 1) -> Iterator[None]:
        """Be counted while a request is answered.

        :param count: answers that it asks for; each needs a place.
        :raises RefusalError: 429, if they do not fit beside those inside.
        """
        self.require_room(count)
        self.inside += count
        began = time.monotonic()
        try:
            yield
        finally:
            self.inside -= count
            took = time.monotonic() - began
            self._usual_seconds += _WEIGHT * (took - self._usual_seconds)

    def require_room(self, count: int = 1) -> None:
        """Refuse what does not fit now; before the work of reading it.

        :raises RefusalError: 429.
        """
        if self.inside + count > self.most:
            raise self._refusal()

    def retry_after(self) -> int:
        """Whole seconds until a place in the queue is likely to be free."""
        beyond = max(1, self.queued - self._waiting + 1)
        wait = self._usual_seconds * beyond / self._places
        return max(1, min(_LONGEST_WAIT, math.ceil(wait)))

    def _refusal(self) -> RefusalError:
        return RefusalError(
            TOO_MANY,
            f"{self.inside} requests are being answered or wait; at most "
            f"{self._places} run and {self._waiting} wait: come again later",
            code="queue_full",
            headers={"Retry-After": str(self.retry_after())},
        )
