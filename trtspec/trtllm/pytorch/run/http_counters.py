"""What a server itself counted of drafts while a runner used it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from packaging.version import Version

from trtspec.trtllm.pytorch.metrics import Acceptance, from_prometheus, unavailable
from trtspec.trtllm.pytorch.metrics.acceptance import join
from trtspec.trtllm.pytorch.metrics.prometheus import SOURCE as PROMETHEUS
from trtspec.trtllm.pytorch.metrics.reading import read_http, scrape

if TYPE_CHECKING:
    import httpx

CONNECT_SECONDS = 10.0


def counted_before(client: httpx.Client, url: str) -> str | None:
    """Begin to count a server's drafts; gives its Prometheus page, None without one.

    Iteration records are not read: a server of our own has none yet, and lets whoever
    asks for them wait 2 s (tensorrt_llm/serve/openai_server.py, get_iteration_stats);
    those of another server are others'.
    """
    import httpx

    try:
        return scrape(client, url)
    except httpx.HTTPError:
        return None  # figures are worth no failed run


def count_drafts(
    url: str,
    version: Version,
    before: str | None,
    *,
    ours: bool,
    interval: int,
    attention_dp: bool,
) -> Acceptance:
    """Read a server's counters.

    Of a server that is not ours only the Prometheus page is read: its iteration records
    are gone once they were read, and others may wait for them.

    :param before: what ``counted_before`` gave.
    :param interval: iterations per record; see ``from_iterations``.
    :param attention_dp: whether ranks attend for requests of their own.
    :raises RunError: if a counter makes no sense.
    :raises httpx.HTTPError: if the server does not answer.
    """
    import httpx

    with httpx.Client(timeout=CONNECT_SECONDS, trust_env=not ours) as client:
        if ours:
            return read_http(
                client,
                url,
                version,
                before=before,
                interval=interval,
                attention_dp=attention_dp,
            )
        page = scrape(client, url)
    return _of_many(page, before, interval)


def _of_many(page: str | None, before: str | None, interval: int) -> Acceptance:
    """Read the counters of a server that others may use too."""
    if page is None:
        why = "the server has no such page, and its iteration records may be others'"
        return unavailable(PROMETHEUS, why)
    counted = from_prometheus(page, before, interval=interval)
    note = join(counted.note, "requests of the server's other clients count too")
    return replace(counted, note=note)
