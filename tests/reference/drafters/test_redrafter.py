"""The ReDrafter drafter: the beams it searches, and the tree they make."""

from __future__ import annotations

import itertools
import json

import pytest
import torch
from safetensors.torch import save_file

from tests.reference.engines import generate, request, sampled
from tests.reference.toy_heads.redrafter import (
    redrafter,
    redrafter_head,
    redrafter_method,
)
from tests.reference.toy_heads.setup import toy_setup
from tests.reference.toys import toy_model, toy_slots
from trtspec.reference.capture import FINAL
from trtspec.reference.chance import SeededChance
from trtspec.reference.drafters import DraftContext, Observation, open_drafter
from trtspec.reference.drafters.redrafter import ReDrafterDrafter, beam_search, beams
from trtspec.reference.engine import Engine
from trtspec.reference.tree import NO_DRAFT, DraftTree
from trtspec.run import SamplingParams

TARGET = toy_model()
EMBEDDING = TARGET.get_input_embeddings()
STATES = torch.randn(3, 32, generator=torch.Generator().manual_seed(7))


def context(pending=9, limit=8, sampling=None) -> DraftContext:
    return DraftContext(
        [3, pending], limit, sampling or SamplingParams(), SeededChance(0)
    )


def observed(head, **fields) -> ReDrafterDrafter:
    """A drafter that has seen two states in slot 0 and one in slot 1."""
    drafter = ReDrafterDrafter(head, EMBEDDING, redrafter_method(**fields), 48)
    drafter.observe(0, Observation(STATES[:2]))
    drafter.observe(1, Observation(STATES[2:]))
    return drafter


@torch.inference_mode()
def log_probability(head, state, pending, path, vocabulary) -> float:
    """Of a whole path of draft tokens, one after the other."""
    recurrent, total = torch.zeros(32), 0.0
    for token, follows in itertools.pairwise((pending, *path)):
        recurrent = head.advance(recurrent, EMBEDDING(torch.tensor(token)))
        logits = head(state, recurrent)[:vocabulary]
        total += float(logits.log_softmax(-1)[follows])
    return total


def searched(head, state, pending, width, length):
    """Beam search in plain Python: every beam by every token, the best stay."""
    paths = [()]
    for _ in range(length):
        grown = [(*path, token) for path in paths for token in range(48)]
        scores = {
            path: log_probability(head, state, pending, path, 48) for path in grown
        }
        paths = sorted(grown, key=scores.__getitem__, reverse=True)[:width]
    return paths


@pytest.mark.parametrize("recurrent", [True, False])
@torch.inference_mode()
def test_beams_are_those_of_a_plain_search(recurrent):
    head = redrafter_head(TARGET, 24, 2, recurrent)
    levels = beam_search(
        head,
        EMBEDDING,
        STATES[:2],
        torch.tensor([9, 4]),
        vocabulary=48,
        width=3,
        length=3,
    )
    assert beams(levels, 0) == searched(head, STATES[0], 9, 3, 3)
    assert beams(levels, 1) == searched(head, STATES[1], 4, 3, 3)


@torch.inference_mode()
def test_enough_beams_find_every_text_in_the_order_of_its_probability():
    head = redrafter_head(TARGET)
    levels = beam_search(
        head, EMBEDDING, STATES[:1], torch.tensor([9]), vocabulary=5, width=99, length=2
    )
    scores = {
        path: log_probability(head, STATES[0], 9, path, 5)
        for path in itertools.product(range(5), repeat=2)
    }
    assert beams(levels, 0) == sorted(scores, key=scores.__getitem__, reverse=True)


@torch.inference_mode()
def test_each_slot_gets_the_tree_of_its_own_state_pending_token_and_limit():
    head = redrafter_head(TARGET)
    first, second = observed(head).propose([context(9, 1), context(4, 8)])
    assert first == DraftTree.of_paths(searched(head, STATES[1], 9, 3, 1))
    assert second == DraftTree.of_paths(searched(head, STATES[2], 4, 3, 3))


def test_sampled_requests_get_the_same_tree_of_point_masses():
    drafter = observed(redrafter_head(TARGET))
    greedy, _ = drafter.propose([context(), context()])
    drawn, _ = drafter.propose([context(sampling=sampled(5)), context()])
    assert drawn == greedy
    assert all(drawn.proposal(node) is None for node in range(len(drawn)))


def test_all_slots_share_the_forwards_of_the_deepest_limit():
    head = redrafter_head(TARGET)
    drafter = observed(head)
    calls = []

    class Watched:
        advance = head.advance

        def __call__(self, states, recurrent):
            calls.append(states.shape)
            return head(states, recurrent)

    drafter._head = Watched()
    drafter.propose([context(limit=1), context(limit=2)])
    assert calls == [(2, 1, 32), (2, 3, 32)]
    assert drafter.forward_seconds > 0


def test_a_slot_with_limit_0_need_not_have_been_observed():
    drafter = observed(redrafter_head(TARGET))
    *drafted, none = drafter.propose([context(), context(), context(limit=0)])
    assert none == NO_DRAFT
    assert [tree.depth for tree in drafted] == [3, 3]
    assert drafter.propose([context(limit=0)] * 3) == [NO_DRAFT] * 3


def test_a_head_that_is_fitted_as_its_authors_train_it_knows_its_own_text():
    target = toy_slots(slots=8)
    drafter, method = redrafter(target.model)
    asked = [request(str(i), (i,), 24) for i in range(8)]
    done = generate(Engine(target, drafter, method), *asked)
    accepted = sum(completion.accepted for completion in done.values())
    steps = sum(completion.steps for completion in done.values())
    assert 1 + accepted / steps > 2


def test_a_head_is_opened_from_its_checkpoint(tmp_path):
    head = redrafter_head(TARGET, width=24)
    save_file(head.state_dict(), tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps({"rnn": True}))
    opened = open_drafter(redrafter_method(), tmp_path, toy_setup(TARGET))
    assert opened.reads == (FINAL,)
    for slot in (0, 1):
        opened.observe(slot, Observation(STATES[slot + 1 : slot + 2]))
    expected = observed(head).propose([context(), context()])
    assert opened.propose([context(), context()]) == expected
