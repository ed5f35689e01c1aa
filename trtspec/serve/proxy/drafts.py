"""What a server counted of drafts since it came up, read by one reader alone.

``GET /metrics`` of ``trtllm-serve`` is a queue that reading empties, so that nobody
else may read it. Releases with ``trtllm_spec_decode_*`` in ``GET /prometheus/metrics``
empty the queue themselves, in a task that wakes up when requests end
(``_iteration_stats_collector_loop`` in tensorrt_llm/serve/openai_server.py); of those
the page is read, and the queue left alone.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from packaging.version import Version

from trtspec.errors import RunError
from trtspec.recipe.pytorch import PyTorchOptions
from trtspec.recipe.schema import Recipe
from trtspec.trtllm.facts.serving import endpoints
from trtspec.trtllm.pytorch.metrics import (
    Acceptance,
    from_iterations,
    from_prometheus,
)
from trtspec.trtllm.pytorch.metrics.exposition import samples

Get = Callable[[str], Awaitable[tuple[int, bytes]]]
"""Fetches a path of the server: status and bytes."""
Source = Literal["", "records", "page"]

RECORDS, PAGE = "/metrics", "/prometheus/metrics"
PAGE_PREFIX = "trtllm_spec_decode_"
_ACCEPTED_AT, _POSITION = PAGE_PREFIX + "accepted_tokens_total", "token_position"
_FOUND = 200


@dataclass(frozen=True, slots=True)
class Counted:
    """What was drafted between two readings.

    :param drafts: requests with a draft, summed over iterations; 0 if not told.
    :param positions: accepted tokens by their place in the draft; empty if not told.
    :param note: what makes the counts too low or too high; may be empty.
    """

    drafts: int = 0
    drafted: int = 0
    accepted: int = 0
    positions: Mapping[str, int] = field(default_factory=dict)
    note: str = ""


NOTHING = Counted()


class DraftReader:
    """Reads one server, from its start to its end; a new start needs a new one.

    :param version: of TensorRT-LLM.
    :ivar records: iteration records that the last reading brought.
    """

    def __init__(self, recipe: Recipe, version: Version) -> None:
        options = recipe.pytorch or PyTorchOptions()
        self._interval = options.llm_args.get("iter_perf_stats_interval") or 1
        self._attention_dp = options.attention_dp
        self._has_page = PAGE in endpoints(version)
        self._source: Source = ""
        self._page: str | None = None
        self.records = 0

    async def begin(self, get: Get) -> None:
        """Leave out what was drafted so far, such as for a canary.

        :raises Exception: the client's own, if the server cannot be reached.
        """
        await self.read(get)

    async def read(self, get: Get) -> Counted:
        """Read what was drafted since the last reading.

        Counters that make no sense are left out, with a note.

        :raises Exception: the client's own, if the server cannot be reached.
        """
        try:
            if self._has_page and self._source != "records":
                counted = await self._read_page(get)
                if self._source == "page":
                    return counted
            return await self._read_records(get)
        except RunError as error:
            problem = error.problems[0]
            return Counted(note=f"{problem.where}: {problem.what}")

    async def _read_page(self, get: Get) -> Counted:
        status, content = await get(PAGE)
        if status != _FOUND:
            self._has_page = False
            return NOTHING
        page, before = content.decode(errors="replace"), self._page
        if PAGE_PREFIX not in page:
            return NOTHING
        self._source, self._page = "page", page
        # the first time it has them, they were at 0 before: a counter that nobody has
        # touched is not written
        told = from_prometheus(page, before or "", interval=self._interval)
        return _counted(told, _positions(page, before or ""))

    async def _read_records(self, get: Get) -> Counted:
        status, content = await get(RECORDS)
        records = json.loads(content) if status == _FOUND else []
        if not isinstance(records, list):
            return NOTHING
        self.records = len(records)
        told = from_iterations(
            records, interval=self._interval, attention_dp=self._attention_dp
        )
        if told.drafted:
            self._source = "records"
        return _counted(told, {})


def _counted(told: Acceptance, positions: Mapping[str, int]) -> Counted:
    if not told.drafted or told.accepted is None:
        return NOTHING
    return Counted(told.steps or 0, told.drafted, told.accepted, positions, told.note)


def _positions(page: str, before: str) -> dict[str, int]:
    now, then = _accepted_at(page), _accepted_at(before)
    grown = {place: count - then.get(place, 0) for place, count in now.items()}
    return {place: count for place, count in grown.items() if count > 0}


def _accepted_at(page: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for sample in samples(page):
        if sample.name == _ACCEPTED_AT and _POSITION in sample.labels:
            place = sample.labels[_POSITION]
            found[place] = found.get(place, 0) + int(sample.value)
    return found
