"""What a front tells Prometheus of each of its pools: the names of every server."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from trtspec.run import Completion
from trtspec.serve.metrics import Identity, ServerMetrics
from trtspec.serve.proxy.drafts import Counted

_FAMILY = re.compile(r"# (?:HELP|TYPE) (\S+) ")


class PoolMetrics(ServerMetrics):
    """Counts what one pool does.

    Its drafts are those that the server itself counted, over all its requests; a
    request's own answer does not tell how much was drafted for it.
    """

    def __init__(self, model: str, identity: Identity) -> None:
        super().__init__(model, identity)
        self._name = model

    def finished(self, done: Completion) -> None:
        """Count an answer that is whole, without its drafts."""
        super().finished(replace(done, drafted=0, accepted=0, draft_steps=None))

    def _time(self, done: Completion) -> None:
        """Leave out what nobody saw: the first token of an answer in one piece."""
        if done.first_token_at:
            super()._time(done)
        elif done.tokens:
            seconds = done.last_token_at - done.submitted_at
            self._e2e.labels(self._name).observe(seconds)

    def counted(self, found: Counted) -> None:
        """Add what the server counted since it was last asked."""
        self._drafts.labels(self._name).inc(found.drafts)
        self._drafted.labels(self._name).inc(found.drafted)
        self._accepted.labels(self._name).inc(found.accepted)
        for place, count in found.positions.items():
            self._per_position.labels(self._name, place).inc(count)


def one_page(pages: Iterable[bytes]) -> bytes:
    """Put several pages in Prometheus' text format together.

    All samples of a metric stand together, behind its HELP and TYPE, as the format
    wants it: https://prometheus.io/docs/instrumenting/exposition_formats/.
    """
    heads: dict[str, list[str]] = {}
    bodies: dict[str, list[str]] = {}
    for page in pages:
        name = ""
        for line in page.decode().splitlines():
            found = _FAMILY.match(line)
            if found:
                name = found[1]
                head = heads.setdefault(name, [])
                if line not in head:
                    head.append(line)
                bodies.setdefault(name, [])
            elif line:
                bodies.setdefault(name, []).append(line)
    lines = [line for name in bodies for line in (*heads.get(name, ()), *bodies[name])]
    return "".join(f"{line}\n" for line in lines).encode()
