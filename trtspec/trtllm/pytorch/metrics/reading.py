"""How acceptance figures are fetched from a server, or from an LLM in this process."""

from __future__ import annotations

from typing import Any, Protocol

from packaging.version import Version

from trtspec.errors import RunError
from trtspec.trtllm.facts.serving import endpoints
from trtspec.trtllm.pytorch.metrics.acceptance import Acceptance, unavailable
from trtspec.trtllm.pytorch.metrics.choose import choose
from trtspec.trtllm.pytorch.metrics.iterations import SOURCE as ITERATIONS
from trtspec.trtllm.pytorch.metrics.iterations import from_iterations
from trtspec.trtllm.pytorch.metrics.prometheus import SOURCE as PROMETHEUS
from trtspec.trtllm.pytorch.metrics.prometheus import from_prometheus

_RECORDS, _PAGE = "/metrics", "/prometheus/metrics"
_FOUND = 200
_SECONDS = 0.5
"""Longest wait for records: a worker process is asked for them every 0.1 s
(tensorrt_llm/executor/rpc_worker_mixin.py, fetch_stats_wait_async)."""


class Reply(Protocol):
    """What an HTTP request gives, as httpx has it."""

    @property
    def status_code(self) -> int:
        """HTTP status."""
        ...

    @property
    def text(self) -> str:
        """Content as text."""
        ...

    def json(self) -> Any:
        """Content as JSON."""
        ...


class Client(Protocol):
    """Sends HTTP requests, as ``httpx.Client`` does."""

    def get(self, url: str) -> Reply:
        """Send a GET request."""
        ...


def scrape(client: Client, base_url: str) -> str | None:
    """Fetch the Prometheus page; None if the server has none.

    :param base_url: such as ``http://127.0.0.1:8000``, without a path.
    :raises Exception: the client's own, if the server cannot be reached.
    """
    reply = _get(client, base_url, _PAGE)
    return reply.text if reply is not None else None


def read_http(
    client: Client,
    base_url: str,
    version: Version,
    *,
    before: str | None = None,
    interval: int = 1,
    attention_dp: bool = False,
) -> Acceptance:
    """Read what a server counted: its iteration records, else its Prometheus page.

    Reading the records empties the server's queue: the next call gives those since.
    Read once before a measurement, and at least once per thousand iterations in it.

    :param before: the Prometheus page (see ``scrape``) at the start of a measurement.
    :param interval: the configuration's ``iter_perf_stats_interval``.
    :param attention_dp: whether ranks attend for requests of their own.
    :raises Exception: the client's own, if the server cannot be reached.
    """
    records = _http_records(
        client, base_url, version, interval=interval, attention_dp=attention_dp
    )
    if records.acceptance_rate is not None:
        return records
    has_page = _PAGE in endpoints(version)
    page = scrape(client, base_url) if has_page else None
    if page is None:
        how = "as it is configured" if has_page else "as far as is known"
        why = f"TensorRT-LLM {version} answers no GET {_PAGE} {how}"
        return choose(records, unavailable(PROMETHEUS, why))
    try:
        counted = from_prometheus(page, before, interval=interval)
    except RunError as error:
        counted = unavailable(PROMETHEUS, _reason(error))
    return choose(records, counted)


def read_llm(
    llm: Any, version: Version, *, interval: int = 1, attention_dp: bool = False
) -> Acceptance:
    """Read what ``tensorrt_llm.LLM`` counted since the last call.

    :param llm: the LLM; configured with ``enable_iter_perf_stats: true``.
    :param interval: the configuration's ``iter_perf_stats_interval``.
    :param attention_dp: whether ranks attend for requests of their own.
    """
    try:
        records = llm.get_stats(timeout=_SECONDS)
        return from_iterations(records, interval=interval, attention_dp=attention_dp)
    except RunError as error:
        return unavailable(ITERATIONS, _reason(error))
    except (RuntimeError, ValueError, AttributeError) as error:
        why = f"get_stats of TensorRT-LLM {version} failed: {error}"
        return unavailable(ITERATIONS, why)


def _http_records(
    client: Client,
    base_url: str,
    version: Version,
    *,
    interval: int,
    attention_dp: bool,
) -> Acceptance:
    reply = _get(client, base_url, _RECORDS)
    if reply is None:
        why = f"TensorRT-LLM {version} answers no GET {_RECORDS} as it is configured"
        return unavailable(ITERATIONS, why)
    try:
        records = reply.json()
    except ValueError:
        records = None
    if not isinstance(records, list):
        return unavailable(ITERATIONS, f"GET {_RECORDS} gave no list of records")
    try:
        return from_iterations(records, interval=interval, attention_dp=attention_dp)
    except RunError as error:
        return unavailable(ITERATIONS, _reason(error))


def _get(client: Client, base_url: str, path: str) -> Reply | None:
    """Fetch a path; None if the server does not answer it with a page."""
    reply = client.get(base_url.rstrip("/") + path)
    return reply if reply.status_code == _FOUND else None


def _reason(error: RunError) -> str:
    problem = error.problems[0]
    return f"{problem.where}: {problem.what}"
