"""What a server says of its own load: gauges of its Prometheus page, and its process.

Names are those of trtspec's own server and of vLLM (docs.vllm.ai, design/metrics;
``gpu_cache_usage_perc`` was its name for the cache before V1).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

from trtspec.bench.http.address import Address

RUNNING = ("trtspec:num_requests_running", "vllm:num_requests_running")
WAITING = ("trtspec:num_requests_waiting", "vllm:num_requests_waiting")
CACHE = ("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
_LINE = re.compile(r"([A-Za-z_:][\w:]*)(?:\{.*\})?\s+([^\s]+)")
_SECONDS = 5.0
_FOUND = 200


@dataclass(frozen=True, slots=True)
class Gauges:
    """One reading; None is what the server does not tell.

    :param names: of the gauges that were found.
    :param cache: part of the KV cache that is in use.
    """

    names: tuple[str, ...] = ()
    running: float | None = None
    waiting: float | None = None
    cache: float | None = None

    @property
    def busy(self) -> float:
        """Requests that run or wait, as far as it is told."""
        return (self.running or 0.0) + (self.waiting or 0.0)


Read = Callable[[], Gauges]


def gauges_in(text: str) -> Gauges:
    """Read a page in Prometheus' text format; series of one name are added up."""
    sums: dict[str, float] = {}
    for line in text.splitlines():
        if line.startswith("#") or not (found := _LINE.match(line)):
            continue
        try:
            value = float(found[2])
        except ValueError:
            continue
        sums[found[1]] = sums.get(found[1], 0.0) + value
    known = [_first(sums, names) for names in (RUNNING, WAITING, CACHE)]
    names = tuple(name for name, _ in known if name)
    return Gauges(names, *(value for _, value in known))


def _first(sums: dict[str, float], names: tuple[str, ...]) -> tuple[str, float | None]:
    name = next((name for name in names if name in sums), "")
    return name, sums.get(name)


def read_gauges(address: Address) -> Gauges:
    """Ask a server for its page; nothing is known if it has none."""
    import httpx

    headers = {"Authorization": address.authorization} if address.authorization else {}
    try:
        reply = httpx.get(
            f"{address.url}/metrics",
            headers=headers,
            timeout=_SECONDS,
            trust_env=not address.here,
        )
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return Gauges()
    return gauges_in(reply.text) if reply.status_code == _FOUND else Gauges()


def process_behind(address: Address) -> int | None:
    """Find the process that listens at an address of this machine.

    :returns: None if it is another machine, or the system does not tell.
    """
    import psutil

    if not address.here:
        return None
    parts = urlsplit(address.url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        open_now = psutil.net_connections("tcp")
    except (psutil.Error, OSError):
        return None
    for one in open_now:
        if one.status == psutil.CONN_LISTEN and one.laddr and one.laddr.port == port:
            return one.pid
    return None
