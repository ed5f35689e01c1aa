"""Which part of a block's wall time each request accounts for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def wall_shares(submitted: Floats, e2e: Floats, wall_seconds: float) -> Floats:
    """Split a block's wall time among its requests.

    Every moment is divided equally among the requests in flight at that moment; with
    one in flight a request accounts for its own latency. Moments with none in flight
    are spread over all, so the shares always add up to the wall time. This lets
    throughput be looked at by prompt.

    :param submitted: submission of each request in seconds, [requests].
    :param e2e: end-to-end latency of each request in seconds, [requests].
    :param wall_seconds: wall time of the block.
    :return: seconds per request, [requests].
    """
    ends = submitted + e2e
    edges = np.unique(np.concatenate([submitted, ends]))
    begun = np.searchsorted(np.sort(submitted), edges[:-1], side="right")
    ended = np.searchsorted(np.sort(ends), edges[:-1], side="right")
    # between two edges each request in flight gets the same part of the time
    parts = np.diff(edges) / np.maximum(begun - ended, 1)
    passed = np.concatenate([[0.0], np.cumsum(parts)])  # up to each edge
    seconds = passed[np.searchsorted(edges, ends)]
    seconds = seconds - passed[np.searchsorted(edges, submitted)]
    total = seconds.sum()
    if not total > 0:
        return np.full(len(e2e), wall_seconds / len(e2e))
    return np.asarray(seconds * (wall_seconds / total))
