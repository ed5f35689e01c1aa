"""EAGLE heads do in slots what they do by themselves: ragged rows, trees, rollback."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import torch

from tests.reference.paths import path_to
from tests.reference.toy_heads.eagle import toy_eagle3_head, toy_eagle_head
from trtspec.reference.slots import Row, SlotModel
from trtspec.reference.tree import ROOT, DraftTree

CLOSE = 1e-4  # of the largest value
HEADS = {
    "eagle": toy_eagle_head,
    "eagle, two layers": lambda **_: toy_eagle_head(layers=2),
    "eagle3": toy_eagle3_head,
    "eagle3, reduced vocabulary": lambda: toy_eagle3_head(drafted=range(0, 48, 2)),
    "eagle3, narrow": lambda: toy_eagle3_head(width=16),
    "eagle3, three layers": lambda: toy_eagle3_head(reading=(True, False, True)),
    "eagle3, normed states": lambda: toy_eagle3_head(
        feeds_normed=True, norm_before_residual=True
    ),
}
TREE = DraftTree((8, 5, 7, 6, 9), (ROOT, ROOT, 1, 2, 0))
LEVELS = ((0, 1), (2, 4), (3,))


@pytest.fixture(params=list(HEADS))
def head(request):
    return HEADS[request.param]()


def entries(head, count: int, seed: int = 0):
    """Tokens [count] and states [count, width] as if from a target."""
    generator = torch.Generator().manual_seed(seed)
    tokens = torch.randint(0, 48, (count,), generator=generator).tolist()
    states = torch.randn(count, head.config.hidden_size, generator=generator)
    return tokens, states


@torch.inference_mode()
def plain(head, tokens: Sequence[int], states, path: Sequence[int] = ()):
    """Logits and state after the last token, by whole forwards without a cache.

    :param path: tokens after those of ``tokens``; beside them the head's own states.
    """
    tokens = list(tokens)
    output = head(torch.tensor([tokens]), states=states[None])
    for token in path:
        tokens.append(token)
        states = torch.cat((states, output.states[0, -1:]))
        output = head(torch.tensor([tokens]), states=states[None])
    return output.logits[0, -1], output.states[0, -1]


def assert_close(got, expected):
    for one, other in zip(got, expected, strict=True):
        atol = CLOSE * max(1.0, float(other.abs().max()))
        torch.testing.assert_close(one, other, rtol=0, atol=atol)


def test_ragged_rows(head):
    model = SlotModel(head, 3, 64, 16)
    texts = [entries(head, 9, 1), ([], None), entries(head, 4, 2)]
    for slot, (tokens, states) in enumerate(texts):
        if tokens:
            rows = [Row(())] * slot + [Row(tokens[:2], states=states[:2])]
            model.run(0, rows, last_only=True)
            model.keep(slot, range(2))
    rows = [Row(t[2:], states=s[2:]) if t else Row(()) for t, s in texts]
    output = model.run(0, rows, last_only=True)
    for slot in (0, 2):
        tokens, states = texts[slot]
        got = output.logits[slot], output.states[slot, len(tokens) - 3]
        assert_close(got, plain(head, tokens, states))


def grow(head, model, tokens, states) -> dict[int, tuple]:
    """Read a text, then a tree level by level; what was said after each node."""
    model.run(0, [Row(tokens, states=states)], last_only=True)
    model.keep(0, range(len(tokens) - 1))  # the last one is the pending token
    pending = model.lengths[0]
    output = model.run(0, [Row(tokens[-1:], states=states[-1:])], last_only=False)
    assert model.lengths[0] == pending
    said = {ROOT: (output.logits[0, 0], output.states[0, 0])}
    order = [node for level in LEVELS for node in level]
    place = {node: index for index, node in enumerate(order)} | {ROOT: ROOT}
    fed = 1
    for level in LEVELS:
        end = fed - 1 + len(level)
        tree = DraftTree(
            tuple(TREE.tokens[node] for node in order[:end]),
            tuple(place[TREE.parents[node]] for node in order[:end]),
        )
        beside = torch.stack([said[TREE.parents[node]][1] for node in level])
        row = Row([TREE.tokens[node] for node in level], tree, fed, beside)
        output = model.run(0, [row], last_only=False)
        for column, node in enumerate(level):
            said[node] = output.logits[0, column], output.states[0, column]
        fed += len(level)
    return said


def test_a_tree_level_by_level(head):
    tokens, states = entries(head, 7)
    said = grow(head, SlotModel(head, 1, 64, 16), tokens, states)
    assert set(said) == {ROOT, *range(len(TREE))}
    for node, got in said.items():
        assert_close(got, plain(head, tokens, states, path_to(TREE, node)))


def test_a_tree_leaves_nothing_behind(head):
    model = SlotModel(head, 1, 64, 16)
    tokens, states = entries(head, 7)
    grow(head, model, tokens, states)
    model.keep(0, (0,))  # the pending token alone
    more, beside = entries(head, 3, seed=4)
    output = model.run(0, [Row(more, states=beside)], last_only=True)
    whole = plain(head, [*tokens, *more], torch.cat((states, beside)))
    assert_close((output.logits[0], output.states[0, 2]), whole)
