"""When requests of an open loop are due."""

from __future__ import annotations

import numpy as np

from trtspec.bench.records import Load


def due_times(load: Load, requests: int, seed: int) -> list[float] | None:
    """Give seconds since the start, ascending; None for a closed loop.

    The first request is due at once. Poisson arrivals have independent, exponentially
    distributed gaps with mean 1 / rate. Arms and blocks with the same seed get the same
    times, so that they see the same bursts.

    :param requests: how many.
    """
    if load.rate is None or requests == 0:
        return None
    mean = 1 / load.rate
    if load.arrivals == "fixed":
        gaps = np.full(requests - 1, mean)
    else:
        gaps = np.random.default_rng(seed).exponential(mean, requests - 1)
    return [0.0, *np.cumsum(gaps).tolist()]
