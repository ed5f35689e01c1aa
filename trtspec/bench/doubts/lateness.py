"""Whether an open loop's client kept up with its own schedule."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trtspec.bench.cells import Doubt
from trtspec.bench.metrics import ArmData
from trtspec.bench.result import Plan

TOO_LATE = 0.10
"""Share of the median E2E latency: a tenth of what is measured is then the client's."""

LATE = 0.02
"""The reader is told from here on; below, lateness hides in the intervals."""


def lateness_doubts(plan: Plan, on: ArmData, off: ArmData) -> Iterator[Doubt]:
    """Compare the p95 of the lateness with the median E2E latency, in each arm."""
    for arm in (off, on):
        if not arm.samples:
            continue
        late = float(np.quantile([s.late for s in arm.samples], 0.95))
        e2e = float(np.median([s.e2e for s in arm.samples]))
        if e2e <= 0 or late <= LATE * e2e:
            continue
        fatal = late > TOO_LATE * e2e
        what = (
            f"arm {arm.arm}: one request in twenty was sent {late * 1000:.1f} ms late "
            f"or more, {late / e2e:.0%} of the median E2E latency"
        )
        end = "; the client was the bottleneck, not the engine" if fatal else ""
        yield Doubt(id="client-late", what=what + end, fatal=fatal)
