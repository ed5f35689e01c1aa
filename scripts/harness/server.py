"""The mock server that both clients are measured on, in a process of its own."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import httpx

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Stream:
    """What every request gets.

    :param first_ms: from the request to the first token, as the server sends it.
    :param gap_ms: between two tokens, each an event of its own.
    """

    tokens: int
    first_ms: float
    gap_ms: float

    @property
    def words(self) -> str:
        """Say it for a reader."""
        if not self.first_ms and not self.gap_ms:
            return f"{self.tokens} tokens as fast as the server can send them"
        return (
            f"{self.tokens} tokens, the first after {self.first_ms:g} ms, then one "
            f"every {self.gap_ms:g} ms"
        )

    def at_most(self, concurrency: int) -> float:
        """Requests per second that no client can exceed."""
        seconds = (self.first_ms + (self.tokens - 1) * self.gap_ms) / 1000
        return concurrency / seconds if seconds else float("inf")


class Size(NamedTuple):
    """How much a client is to send."""

    requests: int
    concurrency: int
    tokens: int


class Served(NamedTuple):
    """What the server noted of one request.

    :ivar name: first word of its prompt.
    :ivar received: ``time.perf_counter`` seconds at which it was there.
    :ivar sends: those at which a role, each token, and the usage were sent.
    """

    name: str
    received: float
    sends: list[float]

    @property
    def ttft(self) -> float:
        """Seconds to the first token, as sent."""
        return self.sends[1] - self.received

    @property
    def tpot(self) -> float:
        """(last - first) / (tokens - 1), as sent."""
        tokens = self.sends[1:-1]
        return (tokens[-1] - tokens[0]) / (len(tokens) - 1)


class MockServer:
    """A running mock server."""

    def __init__(self, url: str) -> None:
        self.url = url

    def log(self) -> list[Served]:
        """Take what it noted since the last time."""
        rows = httpx.get(f"{self.url}/log", timeout=60, trust_env=False).json()
        return [Served(*row) for row in rows]


@contextmanager
def mock_server(stream: Stream) -> Iterator[MockServer]:
    """Start the server; it ends with the context."""
    command = [
        *(sys.executable, "-m", "tests.bench.http.mock_server"),
        *("--tokens", str(stream.tokens)),
        *("--first-ms", str(stream.first_ms)),
        *("--gap-ms", str(stream.gap_ms)),
    ]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            if not url:
                raise RuntimeError("the mock server did not start")
            yield MockServer(url)
        finally:
            process.communicate(timeout=10)  # its stdin ends, and so does it


def requests_per_second(log: list[Served]) -> float:
    """Count from the first request's arrival to the last byte sent."""
    start = min(served.received for served in log)
    end = max(served.sends[-1] for served in log)
    return len(log) / (end - start)


def send_gap_ms(log: list[Served]) -> float:
    """Median gap between two tokens as really sent: whether the server keeps up."""
    gaps = [b - a for served in log for a, b in pairwise(served.sends[1:-1])]
    return 1000 * statistics.median(gaps) if gaps else 0.0
