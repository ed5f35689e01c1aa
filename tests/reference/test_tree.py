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
