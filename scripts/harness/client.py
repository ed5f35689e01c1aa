"""Our own client on the mock server."""

from __future__ import annotations

import time

import numpy as np

from harness.server import MockServer, Served, Size, requests_per_second
from trtspec.bench.driver import BenchPrompt, Call
from trtspec.bench.http.address import read_address
from trtspec.bench.http.driver import OverHttp
from trtspec.bench.http.probe import Server
from trtspec.bench.outcome import Pass
from trtspec.bench.records import Load
from trtspec.run import SamplingParams


def prompt_text(index: int) -> str:
    """Give the i-th prompt; its first word names it in the server's log."""
    return f"r{index} Explain in plain words how a lighthouse lens works."


def send(server: MockServer, size: Size) -> Pass:
    """Send so many requests, so many at a time.

    :raises RuntimeError: if one fails.
    """
    calls = [
        Call(
            f"r{i}",
            BenchPrompt(f"r{i}", "", ({"role": "user", "content": prompt_text(i)},)),
            size.tokens,
            SamplingParams(),
        )
        for i in range(size.requests)
    ]
    driver = OverHttp(Server(read_address(server.url, {}), "mock-model", "chat"))
    result = driver.run(calls, Load(concurrency=size.concurrency))
    if result.failed:
        raise RuntimeError(f"{len(result.failed)} requests failed: {result.failed[0]}")
    return result


def throughput(server: MockServer, size: Size) -> dict[str, float]:
    """Give requests per second, as the server saw them and as we tell them."""
    server.log()
    started = time.process_time()
    result = send(server, size)
    cpu = time.process_time() - started
    log = server.log()
    assert len(log) == size.requests
    return {
        "seen_by_server": requests_per_second(log),
        "told": size.requests / result.wall_seconds,
        "cpu_seconds": cpu,
    }


def errors(result: Pass, log: list[Served]) -> dict[str, dict[str, float]]:
    """Compare each request's TTFT and TPOT with what the server sent, in ms."""
    served = {entry.name: entry for entry in log}
    pairs = [(o, served[o.request_id]) for o in result.answered]
    return {
        "ttft": _spread([o.ttft - s.ttft for o, s in pairs]),
        "tpot": _spread([(o.tpot or 0.0) - s.tpot for o, s in pairs]),
    }


def _spread(differences: list[float]) -> dict[str, float]:
    signed = 1000 * np.asarray(differences)
    absolute = np.abs(signed)
    return {
        "median": float(np.median(absolute)),
        "p95": float(np.quantile(absolute, 0.95)),
        "most": float(np.max(absolute)),
        "median_signed": float(np.median(signed)),
    }
