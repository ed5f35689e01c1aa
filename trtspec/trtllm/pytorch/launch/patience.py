"""How long a server is waited for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Patience:
    """How long is waited for what, in seconds.

    :param start: from the start until the server is ready.
    :param stall: without a new line in the log, until it is ready.
    :param grace: for requests in flight, once it is to end.
    :param canary: for a sign of life from the canary's request.
    :param hang: without an answer, once it is ready; 0 for no limit.
    """

    start: float = 3600.0
    stall: float = 600.0
    grace: float = 30.0
    canary: float = 300.0
    hang: float = 600.0


USUAL_PATIENCE = Patience()
