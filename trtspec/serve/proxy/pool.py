"""One server behind the front: what it serves, and whether it can be sent requests."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from trtspec.serve.http.admission import Admission
from trtspec.serve.proxy.screening import Screen

PoolName = Literal["on", "off"]
ON: PoolName = "on"
OFF: PoolName = "off"
State = Literal["starting", "ready", "down", "ended"]
STARTING_SECONDS, RESTART_SECONDS = 30, 5
"""What a client is told to wait before it tries again."""


@dataclass(slots=True, eq=False)
class Pool:
    """A server of one artifact.

    Its supervisor's thread says when it comes up and goes down; everything else
    belongs to the event loop. Both only set single values.

    :param name: on drafts, off does not.
    :param model: the name under which the server knows its model.
    :param url: its base URL; on loopback.
    :param admission: of so many answers at once; its places are the recipe's
        ``limits.max_batch_size``.
    :ivar generation: counts its starts.
    """

    name: PoolName
    model: str
    screen: Screen
    admission: Admission
    url: str = ""
    state: State = "starting"
    why: str = "it is starting"
    generation: int = 0
    changed: Callable[[], None] = field(default=lambda: None)
    _retry_at: float = 0.0

    @property
    def method(self) -> str:
        """The speculation method of its recipe."""
        return str(self.screen.recipe.speculation.method)

    @property
    def ready(self) -> bool:
        """Whether it takes requests."""
        return self.state == "ready"

    @property
    def retry_after(self) -> int:
        """Seconds after which another try may meet a server."""
        if self.state == "starting":
            return STARTING_SECONDS
        left = self._retry_at - time.monotonic()
        return max(RESTART_SECONDS, round(left))

    def up(self, url: str) -> None:
        """Note that its server is ready."""
        self.url, self.why = url, ""
        self.generation += 1
        self.state = "ready"
        self.changed()

    def down(self, why: str, wait: float = 0.0) -> None:
        """Note that its server is gone and will be started again.

        :param wait: seconds until then.
        """
        self._retry_at = time.monotonic() + wait + RESTART_SECONDS
        self.why, self.state = why, "down"
        self.changed()

    def end(self, why: str = "the server is stopping") -> None:
        """Note that its server is gone for good."""
        self.why, self.state = why, "ended"
        self.changed()
