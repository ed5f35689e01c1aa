"""When the requests of an open loop are due."""

from __future__ import annotations

import numpy as np
import pytest

from trtspec.bench.arrivals import due_times
from trtspec.bench.records import Load


def test_a_closed_loop_has_no_times():
    assert due_times(Load(concurrency=4), 10, 0) is None


def test_fixed_arrivals_are_evenly_spaced():
    times = due_times(Load(arrivals="fixed", rate=4.0), 5, 0)
    assert times == pytest.approx([0.0, 0.25, 0.5, 0.75, 1.0])


def test_poisson_gaps_are_exponential_with_the_asked_mean():
    times = due_times(Load(arrivals="poisson", rate=2.0), 20_001, 7)
    gaps = np.diff(times)
    assert times[0] == 0.0
    assert gaps.mean() == pytest.approx(0.5, rel=0.03)
    assert gaps.std() == pytest.approx(0.5, rel=0.03)  # an exponential's is its mean
    assert np.quantile(gaps, 0.5) == pytest.approx(0.5 * np.log(2), rel=0.05)


def test_a_seed_gives_the_same_times_and_another_does_not():
    load = Load(arrivals="poisson", rate=2.0)
    assert due_times(load, 9, 3) == due_times(load, 9, 3)
    assert due_times(load, 9, 3) != due_times(load, 9, 4)


@pytest.mark.parametrize("count", [0, 1])
def test_few_requests(count):
    times = due_times(Load(arrivals="poisson", rate=2.0), count, 3)
    assert times == ([0.0] if count else None)
