"""Which of several sources to believe."""

from __future__ import annotations

from trtspec.trtllm.pytorch.metrics.acceptance import Acceptance, join


def choose(*sources: Acceptance) -> Acceptance:
    """Give the best source: true counters, with steps, before what is derived.

    Among equals the first one given wins. If no source has figures, the result says of
    each why not.
    """
    best = max(sources, key=_rank, default=Acceptance(source="any source"))
    if best.is_known or len(sources) < 2:
        return best
    reasons = (f"{one.source}: {one.unavailable or 'no figures'}" for one in sources)
    return Acceptance(source="any source", unavailable=join(*reasons))


def _rank(one: Acceptance) -> tuple[bool, bool, bool]:
    is_counted = one.acceptance_rate is not None
    return is_counted, bool(one.steps), one.acceptance_length is not None
