"""The exact rule on random models and random trees, by enumeration."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reference.acceptance.tables import (
    EXACT,
    KINDS,
    Table,
    emitted_blocks,
    grown,
    largest_error,
)
from trtspec.run import SamplingParams

VOCABULARY = 3
LEAF: tuple = ()


def shapes(depth: int):
    """Trees of up to 3 children per node and up to 4 nodes."""
    if depth == 0:
        return st.just(LEAF)
    return st.lists(shapes(depth - 1), max_size=3).map(tuple)


def size(shape) -> int:
    return len(shape) + sum(map(size, shape))


def samplings():
    return st.builds(
        SamplingParams,
        temperature=st.floats(0.3, 2.0),
        top_k=st.integers(0, 3),
        top_p=st.sampled_from([0.3, 0.6, 0.9, 1.0]),
    )


class Given(Table):
    """A table whose logits hypothesis chooses, per position."""

    def __init__(self, rows, sampling) -> None:
        super().__init__(VOCABULARY, 0, sampling)
        self._rows = rows

    def logits(self, prefix):
        row = (len(prefix) + 7 * sum(prefix)) % len(self._rows)
        return torch.tensor(self._rows[row], dtype=torch.float64)


def rows():
    logit = st.one_of(st.floats(-4, 4), st.sampled_from([0.0, 1.0]))
    return st.lists(
        st.lists(logit, min_size=VOCABULARY, max_size=VOCABULARY),
        min_size=1,
        max_size=4,
    )


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    target=st.builds(Given, rows(), samplings()),
    drafter=st.builds(Given, rows(), samplings()),
    shape=shapes(2).filter(lambda shape: size(shape) <= 4),
    kinds=st.lists(st.sampled_from(sorted(KINDS)), min_size=1, max_size=3),
)
def test_any_draft_keeps_the_target_distribution(target, drafter, shape, kinds):
    def mixed(table, prefix, count, chance):
        kind = KINDS[kinds[sum(prefix) % len(kinds)]]
        return kind(table, prefix, count, chance)

    blocks = emitted_blocks(target, lambda c: grown(drafter, shape, mixed, c))
    assert largest_error(target, blocks, 3) < EXACT
