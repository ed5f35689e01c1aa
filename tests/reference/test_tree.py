"""Draft trees: shape, order, and what a node may attend to."""

import pytest
import torch

from trtspec.reference.tree import NO_DRAFT, ROOT, DraftTree

BRANCHED = DraftTree((5, 6, 7, 8, 9), (ROOT, ROOT, 0, 0, 2))


def test_chain_links_each_token_to_the_one_before():
    chain = DraftTree.chain([4, 5, 6])
    assert chain.parents == (ROOT, 0, 1)
    assert chain.is_chain
    assert [chain.children(node) for node in (ROOT, 0, 1, 2)] == [[0], [1], [2], []]


def test_paths_share_the_nodes_of_what_they_have_in_common():
    """As in apple/ml-recurrent-drafter, docs/beam_to_prefix_tree.md, and a level on."""
    tree = DraftTree.of_paths([(2, 3, 4), (2, 13, 14), (2, 23, 4), (5, 3, 4)])
    assert tree.tokens == (2, 3, 4, 13, 14, 23, 4, 5, 3, 4)
    assert tree.parents == (ROOT, 0, 1, 0, 3, 0, 5, ROOT, 7, 8)
    assert tree.proposals == ()


def test_one_path_is_a_chain_and_none_is_no_draft():
    assert DraftTree.of_paths([[4, 2, 4]]) == DraftTree.chain([4, 2, 4])
    assert DraftTree.of_paths([]) == NO_DRAFT


def test_empty_tree_is_a_chain_without_children():
    assert NO_DRAFT.is_chain
    assert NO_DRAFT.depth == 0
    assert NO_DRAFT.children(ROOT) == []


def test_children_keep_the_order_they_are_tried_in():
    assert BRANCHED.children(ROOT) == [0, 1]
    assert BRANCHED.children(0) == [2, 3]
    assert not BRANCHED.is_chain


def test_depth_is_the_longest_path():
    assert BRANCHED.depths == (1, 1, 2, 2, 3)
    assert BRANCHED.depth == 3


def test_a_node_sees_itself_and_its_ancestors_only():
    seen = BRANCHED.visibility().int().tolist()
    assert seen == [
        [1, 0, 0, 0, 0, 0],
        [1, 1, 0, 0, 0, 0],
        [1, 0, 1, 0, 0, 0],
        [1, 1, 0, 1, 0, 0],
        [1, 1, 0, 0, 1, 0],
        [1, 1, 0, 1, 0, 1],
    ]


def test_chain_visibility_is_causal():
    assert torch.equal(
        DraftTree.chain([1, 2, 3]).visibility(), torch.ones(4, 4).tril().bool()
    )


def test_missing_proposals_mean_point_masses():
    q = torch.tensor([0.5, 0.5])
    assert DraftTree.chain([1]).proposal(0) is None
    assert DraftTree.chain([1], [q]).proposal(0) is q


@pytest.mark.parametrize(
    ("tokens", "parents", "proposals"),
    [
        ((1, 2), (ROOT,), ()),
        ((1, 2), (ROOT, 1), ()),
        ((1, 2), (1, ROOT), ()),
        ((1,), (-2,), ()),
        ((1, 2), (ROOT, 0), (None,)),
    ],
)
def test_parts_that_do_not_fit_are_refused(tokens, parents, proposals):
    with pytest.raises(ValueError, match=r"node|tree"):
        DraftTree(tokens, parents, proposals)


def test_nodes_behind_the_candidates_are_seen_but_never_accepted():
    tree = DraftTree((5, 6, 7, 8), (ROOT, 0, ROOT, 2), candidates=2)
    assert tree.drafted == 2
    assert tree.depth == 2
    assert tree.children(ROOT) == [0]
    assert tree.children(2) == []
    assert tree.visibility()[4].tolist() == [True, False, False, True, True]


def test_a_chain_that_looks_ahead_ends_at_its_candidates():
    tree = DraftTree((5, 6, 7), (ROOT, 0, 1), candidates=1)
    assert tree.children(ROOT) == [0]
    assert tree.children(0) == []


def test_more_candidates_than_nodes_are_refused():
    with pytest.raises(ValueError, match="3 candidates of 2 nodes"):
        DraftTree((5, 6), (ROOT, 0), candidates=3)
