"""Drafts of EAGLE's heads are what the heads say of the whole text."""

from __future__ import annotations

import pytest
import torch

from tests.reference.engines import generate, plain_greedy, request, sampled
from tests.reference.paths import path_to
from tests.reference.toy_heads.eagle import (
    TREE,
    toy_eagle3,
    toy_eagle3_dynamic,
    toy_eagle3_head,
    toy_eagle3_static,
    toy_eagle_dynamic,
    toy_eagle_head,
)
from tests.reference.toy_heads.eagle_files import write_eagle, write_eagle3
from tests.reference.toy_heads.setup import toy_setup
from tests.reference.toy_heads.story import LIMITS, Story
from tests.reference.toys import toy_model
from trtspec.methods import Eagle, Eagle3
from trtspec.reference.capture import FINAL
from trtspec.reference.drafters import open_drafter
from trtspec.reference.drafters import states as reading
from trtspec.reference.engine import Engine
from trtspec.reference.slots import SlotModel
from trtspec.reference.tree import ROOT, DraftTree

STATES = 96
"""Three states of a toy target side by side."""


@torch.inference_mode()
def said_after(head, text, captured, tokens) -> torch.Tensor:
    """Logits [draft vocabulary] after ``text`` and ``tokens``, by whole forwards.

    :param captured: the target's states of all of the text but its last token.
    """
    read, states = list(text[1:]), head.fuse(captured)
    output = head(torch.tensor([read]), states=states[None])
    for token in tokens:
        read.append(token)
        states = torch.cat((states, output.states[0, -1:]))
        output = head(torch.tensor([read]), states=states[None])
    return output.logits[0, -1]


def assert_likeliest(head, text, captured, tree) -> None:
    """Each node's children are the tokens that the head holds likeliest there."""
    ids = head.drafted_ids()
    for node in (ROOT, *range(len(tree))):
        children = [tree.tokens[child] for child in tree.children(node)]
        if children:
            logits = said_after(head, text, captured, path_to(tree, node))
            assert ids[logits.topk(len(children)).indices].tolist() == children


@pytest.mark.parametrize("make", [toy_eagle3, toy_eagle3_static, toy_eagle3_dynamic])
@pytest.mark.parametrize("drafted", [None, tuple(range(0, 48, 2))])
def test_drafts_are_what_the_head_says_of_the_whole_text(make, drafted):
    """Whatever was accepted before, whoever joined, left and changed slots."""
    head = toy_eagle3_head(drafted=drafted)
    drafter, _ = make(head=head)
    story = Chains(drafter, STATES)
    for tokens in (1, 6, 11):
        story.join(tokens)
    for limits in LIMITS:
        for (text, captured, tree), limit in zip(
            story.step(limits), limits, strict=True
        ):
            assert tree.depth <= limit
            assert bool(tree) == bool(limit)
            assert_likeliest(head, text, captured, tree)
    story.leave(0)
    story.join(4)
    for text, captured, tree in story.step([2] * 3):
        assert_likeliest(head, text, captured, tree)


class Chains(Story):
    """Accepts nothing but what follows the first node of each level."""

    def step(self, limits, sampling=None):
        asked = () if sampling is None else (sampling,)
        propose = self.drafter.propose
        whole: list[DraftTree] = []

        def first_branch(contexts):
            whole[:] = propose(contexts)
            return [branch(tree) for tree in whole]

        self.drafter.propose = first_branch
        try:
            seen = super().step(limits, *asked)
        finally:
            del self.drafter.propose
        return [
            (text, states, tree)
            for (text, states, _), tree in zip(seen, whole, strict=True)
        ]


def branch(tree: DraftTree) -> DraftTree:
    """The chain of first children."""
    tokens, node = [], ROOT
    while children := tree.children(node):
        node = children[0]
        tokens.append(tree.tokens[node])
    return DraftTree.chain(tokens)


@pytest.mark.parametrize("make", [toy_eagle_dynamic, toy_eagle3_static])
def test_a_sampled_request_does_not_depend_on_the_batch(make):
    asked = [
        request(str(i), (3 + i, 9, 4), 12, sampling=sampled(i, top_k=20))
        for i in range(3)
    ]
    batch = generate(engine_of(make, 3), *asked)
    alone = generate(engine_of(make, 1), asked[1])
    assert alone["1"].tokens == batch["1"].tokens


def test_states_wait_while_the_batch_is_too_large_to_draft():
    engine = engine_of(toy_eagle3, 2, draft_length={1: 3})
    done = generate(engine, request("a", tokens=40), request("b", (5, 2), 12))
    assert done["a"].drafted > 0
    assert done["b"].drafted == 0
    assert (
        done["a"].tokens
        == generate(engine_of(toy_eagle3, 1), request("a", tokens=40))["a"].tokens
    )


def test_a_long_prompt_is_read_in_parts(monkeypatch):
    monkeypatch.setattr(reading, "_CHUNK", 5)
    head = toy_eagle3_head()
    drafter, _ = toy_eagle3_static(head=head)
    story = Story(drafter, STATES)
    for tokens in (3, 23):
        story.join(tokens)
    for text, captured, tree in story.step([4, 4]):
        assert_likeliest(head, text, captured, tree)


@pytest.mark.parametrize(
    "own",
    [
        {"draft_length": 2},
        {"draft_length": 3, "tree": ((0,), (1,), (0, 0))},
        {"draft_length": 2, "tree": "dynamic", "tree_top_k": 4, "tree_tokens": 4},
    ],
    ids=["chain", "static", "dynamic"],
)
def test_a_request_has_parameters_of_its_own(own):
    engine = engine_of(toy_eagle3, 2)
    method = Eagle3(method="eagle3", model="./head", **own)
    asked = request("own", (5, 2), 20, speculation=method)
    done = generate(engine, asked, request("usual"))
    assert done["own"].drafted <= done["own"].steps * method.longest_draft
    usual = generate(engine_of(toy_eagle3, 1), request("usual"))
    assert done["usual"].tokens == usual["usual"].tokens
    assert (
        done["own"].tokens
        == generate(engine_of(toy_eagle3, 1), request("own", (5, 2), 20))["own"].tokens
    )


def test_seconds_in_the_head_are_counted():
    drafter, _ = toy_eagle3()
    story = Story(drafter, STATES)
    story.join(4)
    story.step([0])
    assert drafter.forward_seconds == 0.0
    story.step([3])
    assert drafter.forward_seconds > 0.0


def engine_of(factory, slots: int, **options) -> Engine:
    target = toy_model()
    drafter, method = factory(target, slots, **options)
    model = SlotModel(target, slots, 96, longest_step=method.longest_draft + 1)
    return Engine(model, drafter, method)


@pytest.mark.parametrize(
    "method",
    [
        Eagle3(method="eagle3", model="./head", draft_length=3),
        Eagle3(
            method="eagle3", model="./head", draft_length=3, layers_to_capture=[0, 1]
        ),
        Eagle(method="eagle", model="./head", tree=TREE),
    ],
    ids=["eagle3", "eagle3, layers of the recipe", "eagle"],
)
def test_a_drafter_opens_from_its_checkpoint(method, tmp_path):
    if isinstance(method, Eagle):
        write_eagle(tmp_path, toy_eagle_head())
    else:
        ids = {"eagle_aux_hidden_state_layer_ids": [1, 0]}
        write_eagle3(tmp_path, toy_eagle3_head(captured=2, fitted=False), **ids)
    drafter = open_drafter(method, tmp_path, toy_setup())
    own = (0, 1) if getattr(method, "layers_to_capture", None) else (1, 0)
    assert drafter.reads == ((FINAL,) if isinstance(method, Eagle) else own)
    model = SlotModel(toy_model(), 4, 96, longest_step=method.longest_draft + 1)
    done = generate(Engine(model, drafter, method), request("r", (5,), 20))["r"]
    assert done.drafted > 0
    assert done.tokens == plain_greedy((5,), 20)
