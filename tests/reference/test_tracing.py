"""A trace notes what a draft would have brought, and lets nothing of it happen."""

from __future__ import annotations

import pytest

from tests.reference.artifacts import recipe, write_model
from trtspec.errors import RunError
from trtspec.reference.runner import ReferenceRunner
from trtspec.reference.tracing import Place, place_of, trace
from trtspec.reference.tree import DraftTree
from trtspec.run import Request

BRANCHED = DraftTree(tokens=(5, 6, 7, 8), parents=(-1, -1, 1, 2))


@pytest.mark.parametrize(
    ("rest", "accepted"),
    [((5, 1), 1), ((6, 7, 8, 9), 3), ((6, 8), 1), ((1,), 0), ((6, 7), 2), ((), 0)],
)
def test_a_tree_is_followed_along_the_answer(rest, accepted):
    assert place_of(BRANCHED, rest)[:4] == (3, accepted, 4, 4)


def test_nodes_that_only_look_ahead_are_verified_but_not_drafted():
    tree = DraftTree(tokens=(5, 6, 7), parents=(-1, 0, -1), candidates=2)
    assert place_of(tree, (5, 6)) == Place(2, 2, 2, 3, (0, 0))
    assert place_of(tree, (7,)) == Place(2, 0, 2, 3, (-1,))


@pytest.mark.parametrize(
    ("rest", "ranks"),
    [((5, 8), (0, 0)), ((6, 9), (1, 1)), ((4, 8), (-1, 0)), ((6,), (1,)), ((), ())],
)
def test_ranks_are_those_below_the_likeliest_path(rest, ranks):
    """Two heads with two ranks each: 5 or 6, then 8 or 9."""
    comb = DraftTree(tokens=(5, 6, 8, 9), parents=(-1, -1, 0, 0))
    assert place_of(comb, rest).ranks == ranks


@pytest.fixture(scope="module")
def target(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("target") / "target")


def traced(target, method):
    runner = ReferenceRunner(recipe(method), target, None, threads=1)
    requests = [Request("a", (2, 9, 4, 9, 4, 3), 12), Request("b", (2, 5, 5, 5, 3), 9)]
    return runner, trace(runner, requests)


@pytest.mark.parametrize(
    "method",
    [
        {"method": "ngram", "draft_length": 3},
        {"method": "suffix", "draft_length": 3},
        {
            "method": "lookahead",
            "window_size": 3,
            "ngram_size": 3,
            "verification_set_size": 3,
        },
    ],
    ids=lambda m: m["method"],
)
def test_every_place_of_an_answer_is_noted(target, method):
    runner, found = traced(target, method)
    for completion, places in zip(found.completions, found.places, strict=True):
        assert len(places) == len(completion.tokens) - 1
        assert all(p.accepted <= p.depth <= p.drafted <= p.verified for p in places)
        assert completion.accepted == 0
    assert any(p.drafted for places in found.places for p in places)
    assert not runner.busy


def test_drafts_are_read_by_the_target_only_where_the_drafter_learns_from_it(target):
    _, ngram = traced(target, {"method": "ngram", "draft_length": 3})
    assert {r.drafted for r in ngram.records} == {0}
    _, ahead = traced(
        target,
        {
            "method": "lookahead",
            "window_size": 3,
            "ngram_size": 3,
            "verification_set_size": 3,
        },
    )
    assert any(r.forward_seconds for r in ahead.records)
    trees = [p.verified for places in ahead.places for p in places]
    assert max(trees) > 0


def test_without_a_drafter_there_is_nothing_to_trace(target):
    runner = ReferenceRunner(recipe({"method": "none"}), target, None, threads=1)
    with pytest.raises(RunError, match="nothing to trace"):
        trace(runner, [Request("a", (2, 9), 4)])
