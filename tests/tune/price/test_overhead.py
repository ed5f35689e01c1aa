"""The host is paid per round, and its default is not zero."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from trtspec.methods import Eagle, Eagle3, Medusa, NGram
from trtspec.tune.price.overhead import Overhead, default_overhead

CHAIN = [[0], [0, 0], [0, 0, 0]]
TREE = [[0], [1], [0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("method", "seconds"),
    [
        (NGram(method="ngram", draft_length=4), 0.0017),
        (Eagle3(method="eagle3", model="h", draft_length=4), 0.0017),
        (
            Eagle3(
                method="eagle3", model="h", draft_length=3, tree="dynamic", tree_top_k=4
            ),
            0.0036,
        ),
        (Medusa(method="medusa", model="h", num_heads=3, tree=TREE), 0.0036),
        (Eagle(method="eagle", model="h", num_layers=3, tree=CHAIN), 0.0017),
    ],
)
def test_chains_and_trees_have_a_published_figure_each(method, seconds):
    found = default_overhead(method)
    assert found.round_seconds == seconds
    assert "aisimulate" in found.source
    assert "TensorRT-LLM's own is not published" in found.source


def test_forwards_of_the_drafter_may_cost_the_host_something_too():
    given = Overhead(round_seconds=0.001, draft_step_seconds=0.0002)
    assert given.of(0) == 0.001
    assert given.of(5) == pytest.approx(0.002)
    assert given.source == "given by the user"


def test_nothing_is_negative():
    with pytest.raises(ValidationError):
        Overhead(round_seconds=-0.001)
