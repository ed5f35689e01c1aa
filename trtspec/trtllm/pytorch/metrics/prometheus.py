"""What the counters of ``GET /prometheus/metrics`` say between two scrapes.

The server adds ``specDecodingStats`` of every iteration record that it reads to two
counters, and the drafts of every finished request, by position in the draft, to two
more (tensorrt_llm/metrics/collector.py). Each step that drafts anything drafts a token
at position 0, so that its counter is the number of verification steps.
"""

from __future__ import annotations

from trtspec.trtllm.pytorch.metrics.acceptance import Acceptance, join, unavailable
from trtspec.trtllm.pytorch.metrics.counts import count, require_order
from trtspec.trtllm.pytorch.metrics.exposition import samples

SOURCE = "Prometheus counters"
_DRAFTED = "trtllm_spec_decode_num_draft_tokens_total"
_ACCEPTED = "trtllm_spec_decode_num_accepted_tokens_total"
_DRAFTED_AT = "trtllm_spec_decode_drafted_tokens_total"
_ACCEPTED_AT = "trtllm_spec_decode_accepted_tokens_total"
_POSITION = "token_position"
_NAMES = {_DRAFTED, _ACCEPTED, _DRAFTED_AT, _ACCEPTED_AT}

Counters = dict[tuple[str, str], int]
"""(name, position or "") → value, over all other labels."""


def from_prometheus(
    text: str, before: str | None = None, *, interval: int = 1
) -> Acceptance:
    """Read what was drafted and accepted since an earlier scrape.

    :param text: the page as it is now.
    :param before: the page as it was at the start; None counts from the server's start.
    :param interval: the configuration's ``iter_perf_stats_interval``.
    :raises RunError: if a counter makes no sense; the message names it.
    """
    now, then = _counters(text), _counters(before or "")
    if any(now.get(key, 0) < value for key, value in then.items()):
        return unavailable(SOURCE, "they were reset: the server has been restarted")
    grown = {key: value - then.get(key, 0) for key, value in now.items()}
    total = grown.get((_DRAFTED, ""), 0)
    by_position = _sum(grown, _DRAFTED_AT)
    if not (total or by_position):
        return unavailable(SOURCE, _why_nothing(now))
    pair = (total, grown.get((_ACCEPTED, "")))
    if not total or pair[1] is None:
        pair = (by_position, _sum_or_none(grown, _ACCEPTED_AT))
    drafted, accepted = pair
    if accepted is None or not drafted:
        return unavailable(SOURCE, "the page has no counter of accepted tokens")
    # the two pairs are filled at different times: only where they agree do they speak
    # of the same steps
    steps = grown.get((_DRAFTED_AT, "0")) if by_position == drafted else None
    require_order(SOURCE, drafted, accepted, steps)
    return Acceptance(
        drafted=drafted,
        accepted=accepted,
        steps=steps or None,
        source=SOURCE,
        note=join(
            f"a sample: about one in {interval} iterations"
            if interval > 1 and drafted == total
            else "",
            "" if before is not None else "since the server's start",
        ),
    )


def _counters(text: str) -> Counters:
    found: Counters = {}
    for sample in samples(text):
        if sample.name in _NAMES:
            key = sample.name, sample.labels.get(_POSITION, "")
            value = count({"value": sample.value}, "value", f"{SOURCE}, {sample.name}")
            found[key] = found.get(key, 0) + (value or 0)
    return found


def _sum_or_none(counters: Counters, name: str) -> int | None:
    """Add up a counter over positions; None if the page does not have it."""
    has_it = any(key[0] == name for key in counters)
    return _sum(counters, name) if has_it else None


def _sum(counters: Counters, name: str) -> int:
    return sum(value for key, value in counters.items() if key[0] == name)


def _why_nothing(now: Counters) -> str:
    if now:
        return "nothing was drafted"
    return (
        "the page has none of them; they need a recent release with "
        "return_perf_metrics: true and enable_iter_perf_stats: true"
    )
