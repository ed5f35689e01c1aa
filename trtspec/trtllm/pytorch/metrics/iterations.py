"""What the records of iterations say: ``GET /metrics`` and ``LLM.get_stats``.

Each holds ``specDecodingStats`` with the drafts of one iteration, so that sums have
true denominators whatever the draft length was (``_update_iter_stats`` in
tensorrt_llm/_torch/pyexecutor/py_executor.py). Where an engine keeps no number of
drafts per request, TensorRT-LLM counts the draft tokens whose id is not 0.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from trtspec.trtllm.pytorch.metrics.acceptance import Acceptance, join, unavailable
from trtspec.trtllm.pytorch.metrics.counts import count, nonsense, require_order

SOURCE = "iteration statistics (specDecodingStats)"
KEPT = 1000
"""Records that a server or the LLM API keeps until they are read."""
_STATS = "specDecodingStats"
_DRAFTED, _ACCEPTED = "numDraftTokens", "numAcceptedTokens"
_REQUESTS = "numRequestsWithDraftTokens"
_RANK = "attentionDpRank"


def from_iterations(
    records: Iterable[Mapping[str, Any] | str],
    *,
    interval: int = 1,
    attention_dp: bool = False,
) -> Acceptance:
    """Sum the drafts of all iterations that had one.

    With attention data parallelism each iteration has a row per rank, and the drafts in
    all of them are those of rank 0. Rows of other ranks bear ``attentionDpRank``, or,
    in releases that do not write it, the iteration number of the row before.

    :param records: as the server or the LLM API gave them; a string holds one as JSON.
    :param interval: the configuration's ``iter_perf_stats_interval``.
    :param attention_dp: whether ranks attend for requests of their own.
    :raises RunError: if a record makes no sense; the message names it.
    """
    rows = list(_of_rank_0(records, attention_dp=attention_dp))
    numbers = [count(record, "iter", where) for where, record in rows]
    filled = [drafts for where, record in rows if (drafts := _drafts(record, where))]
    sensible = [one for one in filled if (one.accepted or 0) <= one.drafted]
    accepted = [one.accepted for one in sensible if one.drafted]
    note = _uncounted(len(filled) - len(sensible))
    if not accepted:
        why = _why_nothing(len(rows), len(rows) - len(filled))
        return unavailable(SOURCE, note or why)
    if None in accepted:
        return unavailable(SOURCE, f"this release counts no {_ACCEPTED}")
    return Acceptance(
        drafted=sum(one.drafted for one in sensible),
        accepted=sum(known for known in accepted if known is not None),
        steps=sum(one.steps for one in sensible if one.drafted),
        source=SOURCE,
        note=join(
            note,
            _lost([number for number in numbers if number is not None], interval),
            f"a sample: only every {interval}th iteration" if interval > 1 else "",
            "drafts of attention-DP rank 0 only" if attention_dp else "",
        ),
    )


def _of_rank_0(
    records: Iterable[Mapping[str, Any] | str], *, attention_dp: bool
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give each iteration's record once, with its name for messages."""
    last: object = None
    for index, given in enumerate(records):
        where = f"iteration record {index}"
        record = _parsed(given, where)
        number = record.get("iter")
        if number is not None:
            where = f"{where} (iter {number})"
        repeated = attention_dp and number is not None and number == last
        last = number
        if record.get(_RANK) in (None, 0) and not repeated:
            yield where, record


def _parsed(given: Mapping[str, Any] | str, where: str) -> Mapping[str, Any]:
    record: object = given
    if isinstance(given, str):
        try:
            record = json.loads(given)
        except ValueError as error:
            nonsense(where, f"not valid JSON: {error}", "a JSON object")
    if not isinstance(record, Mapping):
        nonsense(where, f"it is {record!r}", "a JSON object")
    return record


class _Drafts(NamedTuple):
    """What one iteration counted; accepted is None without such a counter."""

    drafted: int
    accepted: int | None
    steps: int


def _drafts(record: Mapping[str, Any], where: str) -> _Drafts | None:
    """Read the drafts of one iteration; None where the record has none.

    ``acceptanceLength`` is (accepted + requests) / requests: a request with a draft is
    one verification step.
    """
    stats = record.get(_STATS)
    if stats is None:
        return None
    if not isinstance(stats, Mapping):
        nonsense(where, f"{_STATS} is {stats!r}", "an object, or null")
    where = f"{where}, {_STATS}"
    drafted = count(stats, _DRAFTED, where) or 0
    steps = count(stats, _REQUESTS, where) or 0
    require_order(where, drafted, None, steps)
    if drafted and not steps:
        nonsense(
            where,
            f"{drafted} drafted tokens in no request with a draft",
            f"{_REQUESTS} of 1 or more",
        )
    return _Drafts(drafted, count(stats, _ACCEPTED, where), steps)


def _uncounted(iterations: int) -> str:
    """Tell of iterations with more accepted than drafted tokens, which are left out."""
    if not iterations:
        return ""
    some = "an iteration is" if iterations == 1 else f"{iterations} iterations are"
    return (
        f"{some} left out, with more accepted than drafted tokens: where an engine "
        "keeps no number of drafts, TensorRT-LLM counts no draft token whose id is 0, "
        "so that the rate may be too high"
    )


def _lost(numbers: list[int], interval: int) -> str:
    """Tell of iterations that have no record: a queue keeps the newest 1000."""
    different = sorted(set(numbers))
    missing = sum((b - a) // interval - 1 for a, b in pairwise(different))
    if missing <= 0:
        full = len(different) >= KEPT
        return f"of the last {KEPT} iterations, all that are kept" if full else ""
    return (
        f"the records of {missing} iterations are missing, so that the counts are too "
        "low; read them more often"
    )


def _why_nothing(seen: int, without: int) -> str:
    if not seen:
        return (
            "there are no records; they need enable_iter_perf_stats: true, and reading "
            "them empties the queue"
        )
    if without == seen:
        return f"this release fills no {_STATS} for the method"
    return f"nothing was drafted in {seen} iterations, or drafts are not counted"
