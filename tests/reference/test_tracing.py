"""A trace notes what a draft would have brought, and lets nothing of it happen."""

from __future__ import annotations

from itertools import product

import pytest
import torch
from scipy.stats import chi2_contingency

from tests.reference.artifacts import recipe, write_model
from trtspec.errors import RunError, UsageError
from trtspec.reference.runner import ReferenceRunner
from trtspec.reference.tracing import Place, chain_chances, place_of, trace
from trtspec.reference.tree import DraftTree
from trtspec.run import Request, SamplingParams

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
def target_model(tmp_path_factory):
    return write_model(tmp_path_factory.mktemp("target") / "target")


def traced(target_model, method):
    runner = ReferenceRunner(recipe(method), target_model, None, threads=1)
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
def test_every_place_of_an_answer_is_noted(target_model, method):
    runner, found = traced(target_model, method)
    for completion, places in zip(found.completions, found.places, strict=True):
        assert len(places) == len(completion.tokens) - 1
        assert all(p.accepted <= p.depth <= p.drafted <= p.verified for p in places)
        assert completion.accepted == 0
    assert any(p.drafted for places in found.places for p in places)
    assert not runner.busy


def test_drafts_are_read_by_the_target_only_where_the_drafter_learns_from_it(
    target_model,
):
    _, ngram = traced(target_model, {"method": "ngram", "draft_length": 3})
    assert {r.drafted for r in ngram.records} == {0}
    _, ahead = traced(
        target_model,
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


def test_without_a_drafter_there_is_nothing_to_trace(target_model):
    runner = ReferenceRunner(recipe({"method": "none"}), target_model, None, threads=1)
    with pytest.raises(RunError, match="nothing to trace"):
        trace(runner, [Request("a", (2, 9), 4)])


P = torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5]])
Q = torch.tensor([[0.2, 0.2, 0.6], [0.6, 0.3, 0.1]])


def target(node: int) -> torch.Tensor:
    """Of a chain of two: after the pending token, then after each of its tokens."""
    return P[node + 1]


def test_chances_of_a_chain_are_on_average_those_of_rejection_sampling():
    """Over all drafts of two tokens; the target's second row does not see the first."""
    mean = torch.zeros(2)
    for first, second in product(range(3), repeat=2):
        tree = DraftTree.chain([first, second], [Q[0], Q[1]])
        found = torch.tensor(chain_chances(tree, target))
        mean += Q[0][first] * Q[1][second] * found
    overlap = torch.minimum(P[:2], Q).sum(-1)
    assert mean.tolist() == pytest.approx(overlap.cumprod(0).tolist())


def test_chances_of_a_point_mass_are_the_targets_own():
    assert chain_chances(DraftTree.chain([1, 2]), target) == pytest.approx((0.3, 0.09))


def test_what_cannot_be_accepted_ends_a_chain():
    none = torch.tensor([[0.0, 1.0, 0.0]])
    found = chain_chances(DraftTree.chain([0, 1]), lambda node: none[0])
    assert found == (0.0, 0.0)
    assert chain_chances(DraftTree(), target) == ()


def test_sampled_trees_are_refused(target_model):
    method = {"method": "lookahead", "window_size": 3, "ngram_size": 3,
              "verification_set_size": 3}  # fmt: skip
    runner = ReferenceRunner(recipe(method), target_model, None, threads=1)
    sampled = Request("a", (2, 9, 4), 6, SamplingParams(temperature=0.8))
    with pytest.raises(UsageError, match="with sampled requests"):
        trace(runner, [sampled])


def test_sampled_answers_are_those_of_plain_sampling_in_distribution(target_model):
    """The first token after the prefill: over many seeds, drafted at or not."""
    method = {"method": "ngram", "draft_length": 3}
    runner = ReferenceRunner(
        recipe(method, max_batch_size=16), target_model, None, threads=1
    )
    prompt, seeds = (2, 9, 4, 9, 4, 9), 400

    def asked(first: int, **options) -> list[Request]:
        return [
            Request(f"r{n}", prompt, 3, SamplingParams(1.0, seed=first + n), **options)
            for n in range(seeds)
        ]

    traced = [c.tokens[1] for c in trace(runner, asked(0)).completions]
    plain = []
    for request in asked(5000, speculate=False):
        runner.submit(request)
    while runner.busy:
        chunks = runner.advance().chunks
        plain += [c.completion.tokens[1] for c in chunks if c.completion]
    tokens = sorted({*traced, *plain})
    counts = [[found.count(t) for t in tokens] for found in (traced, plain)]
    assert chi2_contingency(counts).pvalue > 1e-4
