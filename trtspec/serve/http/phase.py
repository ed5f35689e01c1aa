"""Whether a server takes requests: starting, ready, draining, broken."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from trtspec.serve.openai.errors import UNAVAILABLE, RefusalError

Name = Literal["starting", "ready", "draining", "broken"]
_RETRY_SECONDS = "5"


@dataclass(slots=True)
class Phase:
    """Where a server is between its start and its end.

    :ivar reason: said to clients while it is not ready.
    """

    name: Name = "starting"
    reason: str = "the server is starting"

    def enter(self, name: Name, reason: str = "") -> None:
        """Go on; a server that is draining does not become ready again."""
        if (self.name, name) != ("draining", "ready"):
            self.name, self.reason = name, reason

    @property
    def ready(self) -> bool:
        """Whether requests are taken."""
        return self.name == "ready"

    def require_ready(self) -> None:
        """Refuse a request while none are taken.

        :raises RefusalError: with Retry-After.
        """
        if not self.ready:
            raise RefusalError(
                UNAVAILABLE,
                f"not ready: {self.reason}",
                code=self.name,
                headers={"Retry-After": _RETRY_SECONDS, "Connection": "close"},
            )
