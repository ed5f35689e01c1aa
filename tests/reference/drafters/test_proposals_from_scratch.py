"""Drafts in a running engine are what the drafter says of the whole text, from scratch.

Requests join late, leave early, change slots, are cancelled, decode greedily or by
chance, with drafts or without, while the draft length changes with the batch. Every
draft is computed again by whole forwards over the request's tokens, without cache or
batch: a state of the wrong position or a stale entry would only cost acceptance, and
no comparison of outputs would see it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest
import torch
from torch import Tensor
from transformers import DynamicCache

from tests.reference.engines import request, sampled, submit
from tests.reference.matrix.engines import MAX_TOKENS, VOCABULARY
from tests.reference.paths import path_to
from tests.reference.toy_heads import TOYS
from tests.reference.toy_heads.mtp import fitted_heads
from tests.reference.toy_heads.pard import MASK as PARD_MASK
from tests.reference.toy_heads.setup import toy_setup
from tests.reference.toys import toy_model
from trtspec.methods import Mtp
from trtspec.reference import prefill
from trtspec.reference.capture import Capture
from trtspec.reference.drafters import draft_target, pard
from trtspec.reference.drafters import states as reading
from trtspec.reference.drafters.mtp import one_per_position
from trtspec.reference.drafters.redrafter import beam_search, beams
from trtspec.reference.drafters.suffix_override import SuffixOverride
from trtspec.reference.engine import Engine
from trtspec.reference.sampling import distribution
from trtspec.reference.slots import SlotModel
from trtspec.reference.tree import ROOT, DraftTree
from trtspec.run import SamplingParams

BY_BATCH = {1: 4, 2: 2}
"""With three requests nothing is drafted."""

BUSHY = ((0,), (1,), (0, 0), (1, 0), (1, 1), (0, 0, 0), (1, 1, 0), (1, 1, 0, 0))
"""The nodes that are read hang below different ones, and not below the first."""

SLACK = 1e-3
"""Logits that differ by less may change places."""


@dataclass(frozen=True)
class Seen:
    """One request's part of a call of ``propose``."""

    text: tuple[int, ...]
    limit: int
    sampling: SamplingParams
    tree: DraftTree


Said = Callable[[Sequence[int]], Tensor]
"""Drafted tokens → the drafter's logits [vocabulary] after them."""


def drive(drafter, method, around=lambda drafter: drafter) -> list[Seen]:
    """Run more requests than slots; give every draft.

    :param around: wraps the drafter for the engine.
    """
    target = toy_model(vocabulary=VOCABULARY)
    model = SlotModel(target, 3, MAX_TOKENS, method.longest_draft + 1)
    engine, seen = Engine(model, around(drafter), method), []
    propose = drafter.propose

    def listening(contexts):
        trees = propose(contexts)
        seen.extend(
            Seen(tuple(c.tokens), c.limit, c.sampling, tree)
            for c, tree in zip(contexts, trees, strict=True)
        )
        return trees

    drafter.propose = listening
    chance = sampled(3, temperature=0.8, top_k=7, top_p=0.95)
    for one in (
        request("a", (5,), 14),
        request("plain", (2, 3), 5, speculate=False),
        request("b", (3, 9, 4, 8, 8, 2, 7), 11, sampling=chance),
        request("c", (4, 6), 12),
        request("d", (7, 3, 5, 2), 9, sampling=sampled(4)),
        request("e", tuple(range(2, 9)) * 2, 10),
        request("gone", (8, 2), 60),
    ):
        submit(engine, one)
    try:
        alone = 0
        while engine.queue:
            engine.advance()
            alone += len(engine.running) == 1
            if alone > 4:
                engine.queue.cancel("gone")
    finally:
        model.capture(())  # other tests share the target
    return seen


@torch.inference_mode()
def states_of(drafter, text: Sequence[int]) -> Tensor:
    """What the drafter reads of all tokens but the last, [n, width]."""
    target = toy_model(vocabulary=VOCABULARY)
    capture = Capture(target, drafter.reads)
    with capture:
        target(torch.tensor([text[:-1]]), use_cache=False)
    seen = capture.states()[0]
    capture.remove()
    return seen


@torch.inference_mode()
def growing(drafter, text: Sequence[int]) -> Said:
    """A head that reads its own states behind the target's."""
    head = drafter._head.model
    known = {(): drafter._fuse(states_of(drafter, text))}
    ids = None if drafter._vocabulary is None else drafter._vocabulary.ids

    @torch.inference_mode()
    def said(tokens: Sequence[int]) -> Tensor:
        path = tuple(tokens)
        if path not in known:
            said(path[:-1])  # leaves what the head reads next
        read = torch.tensor([[*text[1:], *path]])
        output = head(read, states=known[path][None])
        last = torch.cat((known[path], output.states[0, -1:]))
        for token in range(VOCABULARY):
            known[(*path, token)] = last
        logits = output.logits[0, -1]
        return logits if ids is None else spread(logits, ids)

    return said


def spread(logits: Tensor, ids: Tensor) -> Tensor:
    whole = logits.new_full((VOCABULARY,), -torch.inf)
    whole[ids] = logits[: len(ids)]
    return whole


@torch.inference_mode()
def several(drafter, text: Sequence[int]) -> Said:
    """One head per position: arXiv 2412.19437, equations 21 to 23."""

    @torch.inference_mode()
    def said(tokens: Sequence[int]) -> Tensor:
        whole, states = [*text, *tokens], states_of(drafter, text)
        for ahead, slots in enumerate(drafter._heads[: len(tokens) + 1], 1):
            read = torch.tensor([whole[ahead : ahead + len(states)]])
            output = slots.model(read, states=states[None])
            states = output.states[0]
        return output.logits[0, -1]

    return said


def draft_model(drafter, text: Sequence[int]) -> Said:
    @torch.inference_mode()
    def said(tokens: Sequence[int]) -> Tensor:
        read = torch.tensor([[*text, *tokens]])
        return drafter._model.model(read, use_cache=False).logits[0, -1]

    return said


def masked(drafter, text: Sequence[int]) -> Said:
    """PARD: what is drafted does not matter, only how much."""

    @torch.inference_mode()
    def said(tokens: Sequence[int]) -> Tensor:
        read = torch.tensor([[*text, *[PARD_MASK] * len(tokens)]])
        return drafter._model.model(read, use_cache=False).logits[0, -1]

    return said


@torch.inference_mode()
def block(drafter, text: Sequence[int]) -> Said:
    head, states = drafter._head.model, states_of(drafter, text)
    cache, size = DynamicCache(), drafter._block.size
    head(torch.zeros(1, len(states)).long(), states=states[None], past_key_values=cache)
    read = torch.tensor([[text[-1], *[drafter._block.mask_token] * (size - 1)]])
    positions = torch.arange(len(states), len(states) + size)[None]
    logits = head(read, position_ids=positions, past_key_values=cache).logits[0]
    return lambda tokens: logits[1 + len(tokens)]


def check(one: Seen, said: Said) -> None:
    """Each node's children are the likeliest, or drawn from what was said."""
    tree = one.tree
    for node in (ROOT, *range(len(tree))):
        children = tree.children(node)
        if not children:
            continue
        logits = said(path_to(tree, node))
        if tree.proposal(children[0]) is None:
            least = logits.topk(len(children)).values
            drafted = logits[[tree.tokens[child] for child in children]]
            torch.testing.assert_close(drafted, least, atol=SLACK, rtol=0)
            continue
        q = distribution(logits, one.sampling)
        for child in children:
            torch.testing.assert_close(
                tree.proposal(child), q / q.sum(), atol=1e-4, rtol=0
            )
            assert q[tree.tokens[child]] > 0
            q = q.clone()
            q[tree.tokens[child]] = 0


def mtp_several(target, slots):
    """One head per position, and a draft length that goes by the batch."""
    lengths = {1: 3, 2: 1, 3: 2}
    method = Mtp(method="mtp", draft_length=lengths, vanilla=True)
    setup = toy_setup(target, slots)
    return one_per_position(method, fitted_heads(target, 3), setup.slots_for), method


CASES = {
    "eagle, fixed tree": (growing, {}),
    "eagle, dynamic tree": (growing, {}),
    "eagle3, chain": (growing, {"draft_length": BY_BATCH}),
    "eagle3, fixed tree": (growing, {}),
    "eagle3, bushy tree": (growing, {"tree": BUSHY}),
    "eagle3, dynamic tree": (growing, {"tree_tokens": 12}),
    "eagle3, reduced vocabulary": (growing, {}),
    "eagle3, another width": (growing, {}),
    "mtp, one head repeated": (growing, {"draft_length": BY_BATCH}),
    "mtp, several heads": (several, None),
    "mtp, dynamic tree": (growing, {}),
    "pard": (masked, {}),
    "dflash": (block, {}),
    "draft_target": (draft_model, {"draft_length": BY_BATCH}),
}


@pytest.fixture(autouse=True)
def short_parts(monkeypatch):
    """Prompts are read in parts by the target, and in others by the drafter."""
    monkeypatch.setattr(prefill, "CHUNK", 4)
    monkeypatch.setattr(reading, "_CHUNK", 5)
    monkeypatch.setattr(draft_target, "_CATCH_UP", 3)
    monkeypatch.setattr(pard, "_FEW", 4)


def made(name: str):
    """Give drafter, method, and how to ask the drafter from scratch."""
    from_scratch, options = CASES[name]
    target = toy_model(vocabulary=VOCABULARY)
    if options is None:
        return *mtp_several(target, 3), from_scratch
    toy = TOYS["eagle3, chain" if "bushy" in name else name]
    toy = replace(toy, options={**toy.options, **options})
    return *toy.make(target, 3), from_scratch


@pytest.mark.parametrize("name", list(CASES))
def test_every_draft_is_what_the_drafter_says_of_the_whole_text(name):
    drafter, method, from_scratch = made(name)
    drafted = [one for one in drive(drafter, method) if one.tree]
    assert len({one.limit for one in drafted}) > 1
    for one in drafted:
        check(one, from_scratch(drafter, one.text))


OVERRULED = ("eagle3, chain", "eagle3, fixed tree", "mtp, several heads", "dflash")


@pytest.mark.parametrize("name", [*OVERRULED, "pard", "draft_target"])
def test_what_a_suffix_overruled_is_caught_up_with(name):
    drafter, method, from_scratch = made(name)
    seen = drive(drafter, method, lambda inner: SuffixOverride(inner, 2))
    drafted = [one for one in seen if one.tree]
    assert drafted
    for one in drafted:
        check(one, from_scratch(drafter, one.text))


def test_every_medusa_tree_is_what_the_heads_say_of_the_whole_text():
    target = toy_model(vocabulary=VOCABULARY)
    drafter, method = TOYS["medusa"].make(target, 3)
    drafted = [one for one in drive(drafter, method) if one.tree]
    assert drafted
    for one in drafted:
        with torch.inference_mode():
            logits = drafter._heads(states_of(drafter, one.text)[-1])
        ranked = logits.sort(-1, descending=True).indices.tolist()
        assert one.tree == drafter._tree.fill(ranked, one.limit)


def test_every_beam_is_what_redrafter_finds_of_the_whole_text():
    target = toy_model(vocabulary=VOCABULARY)
    drafter, method = TOYS["redrafter"].make(target, 3)
    drafted = [one for one in drive(drafter, method) if one.tree]
    assert drafted
    for one in drafted:
        with torch.inference_mode():
            levels = beam_search(
                drafter._head,
                drafter._embedding,
                states_of(drafter, one.text)[-1:],
                torch.tensor(one.text[-1:]),
                vocabulary=VOCABULARY,
                width=method.num_beams,
                length=min(method.draft_length_per_beam, one.limit),
            )
        assert one.tree == DraftTree.of_paths(beams(levels, 0))
