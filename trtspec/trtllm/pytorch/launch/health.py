"""Whether a server that was ready still serves, by its answers at ``/health``."""

from __future__ import annotations

_NOES_IN_A_ROW = 3


class HealthWatch:
    """Judges answers in the order in which they come.

    :param hang: seconds without any answer after which a server counts as hung; 0 for
        no limit. A busy server may be slow to answer, so this is long.
    :param now: the time of the last answer, in seconds of any clock.
    """

    def __init__(self, hang: float, now: float) -> None:
        self._hang, self._answered, self._noes = hang, now, 0

    def fault(self, healthy: bool | None, now: float) -> str:
        """Say what is wrong after one more answer; empty if nothing is known to be.

        :param healthy: the answer; None if there was none.
        :param now: the time of the answer.
        """
        if healthy is None:
            return self._silence(now)
        self._answered = now
        # silence between two noes does not make the server healthy
        self._noes = 0 if healthy else self._noes + 1
        if self._noes >= _NOES_IN_A_ROW:
            return "says at /health that it cannot serve"
        return ""

    def _silence(self, now: float) -> str:
        if not self._hang or now - self._answered < self._hang:
            return ""
        return f"did not answer at /health for {self._hang:g} s (--hang-timeout)"
