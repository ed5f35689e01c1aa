"""Which lengths are timed on a backend, and how far its tables reach."""

from __future__ import annotations

import pytest

from tests.tune.made import candidate, trace
from trtspec.tune.deployed.gather import lengths_to_time, most_read
from trtspec.tune.trace_file import TraceSet


@pytest.mark.parametrize(
    ("lengths", "every", "timed"),
    [
        ((1, 2, 3, 4, 5, 6, 7, 8), False, [1, 4, 8]),
        ((1, 2, 3), False, [1, 2, 3]),
        ((1, 2), False, [1, 2]),
        ((5,), False, [5]),
        ((1, 2, 3, 4), True, [1, 2, 3, 4]),
    ],
)
def test_the_ends_and_one_between_where_each_is_an_artifact(lengths, every, timed):
    assert lengths_to_time(lengths, every=every) == timed


def test_tables_reach_as_far_as_a_trace_reads():
    short = TraceSet(None, (trace([1, 0], offered=2),))
    assert most_read(candidate(4), short) == 4
    tree = trace([1, 0]).model_copy(update={"drafted": (9, 3), "verified": (11, 3)})
    assert most_read(candidate(4), TraceSet(None, (tree,))) == 11
