"""The Medusa drafter: which tokens stand where in the tree, and from which state."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import save_file

from tests.reference.engines import generate, request, sampled
from tests.reference.toy_heads.fitting import PROMPTS
from tests.reference.toy_heads.medusa import (
    TREE,
    medusa_heads,
    medusa_method,
    medusa_static,
)
from tests.reference.toy_heads.setup import toy_setup
from tests.reference.toys import toy_model, toy_slots
from trtspec.errors import RunError
from trtspec.reference.capture import FINAL
from trtspec.reference.chance import SeededChance
from trtspec.reference.drafters import DraftContext, Observation, open_drafter
from trtspec.reference.drafters.medusa import MedusaDrafter, StaticTree
from trtspec.reference.engine import Engine
from trtspec.reference.tree import NO_DRAFT, ROOT
from trtspec.run import SamplingParams

TARGET = toy_model()
STATES = torch.randn(3, 32, generator=torch.Generator().manual_seed(7))
RANKED = [[10, 11, 12, 13], [20, 21, 22], [30, 31]]


def context(limit=8, sampling=None) -> DraftContext:
    return DraftContext([3, 9], limit, sampling or SamplingParams(), SeededChance(0))


def observed(heads, tree=TREE, vocabulary=48) -> MedusaDrafter:
    """A drafter that has seen two states in slot 0 and one in slot 1."""
    drafter = MedusaDrafter(heads, StaticTree(tree), vocabulary)
    drafter.observe(0, Observation(STATES[:2]))
    drafter.observe(1, Observation(STATES[2:]))
    return drafter


def paths(tree) -> dict[tuple[int, ...], None]:
    """The tokens from the root to each node, in the tree's order."""
    found: dict[int, tuple[int, ...]] = {ROOT: ()}
    for node, (token, parent) in enumerate(zip(tree.tokens, tree.parents, strict=True)):
        found[node] = (*found[parent], token)
    return dict.fromkeys(list(found.values())[1:])


def test_each_path_takes_the_token_of_its_rank_at_each_level():
    tree = StaticTree(((1, 0), (0, 0, 1), (1,), (0,), (0, 0), (0, 2))).fill(RANKED, 3)
    assert tree.tokens == (10, 11, 20, 22, 20, 31)
    assert tree.parents == (ROOT, ROOT, 0, 0, 1, 2)
    assert tree.proposals == ()


@pytest.mark.parametrize(("limit", "nodes"), [(0, 0), (1, 4), (2, 8), (3, 10), (9, 10)])
def test_a_tree_is_cut_at_the_limit(limit, nodes):
    tree = StaticTree(TREE).fill(RANKED, limit)
    assert len(tree) == nodes
    assert tree.depth == min(limit, 3)


@torch.inference_mode()
def test_the_tokens_are_the_likeliest_after_the_last_state():
    heads = medusa_heads(TARGET)
    proposed = observed(heads).propose([context(), context()])
    for state, tree in zip((STATES[1], STATES[2]), proposed, strict=True):
        orders = heads(state).argsort(-1, descending=True).tolist()
        expected = {
            tuple(orders[level][rank] for level, rank in enumerate(path))
            for path in TREE
        }
        assert set(paths(tree)) == expected


def test_siblings_stand_in_the_order_of_their_ranks():
    heads = medusa_heads(TARGET)
    tree, _ = observed(heads, ((2,), (0,), (1,))).propose([context(), context()])
    logits = heads(STATES[1])[0]
    assert list(tree.tokens) == logits.topk(3).indices.tolist()


def test_sampled_requests_get_the_same_tree_of_point_masses():
    drafter = observed(medusa_heads(TARGET))
    greedy, _ = drafter.propose([context(), context()])
    drawn, _ = drafter.propose([context(sampling=sampled(5)), context()])
    assert drawn == greedy
    assert all(drawn.proposal(node) is None for node in range(len(drawn)))


def test_tokens_that_the_target_does_not_have_are_never_proposed():
    heads = medusa_heads(TARGET)
    for tree in observed(heads, vocabulary=10).propose([context(), context()]):
        assert max(tree.tokens) < 10


def test_all_slots_share_one_forward_of_only_the_heads_that_are_needed():
    heads = medusa_heads(TARGET)
    calls = []

    def watched(states, count):
        calls.append((states.shape, count))
        return heads(states, count)

    drafter = observed(heads)
    drafter._heads = watched
    shallow, _ = drafter.propose([context(2), context(1)])
    assert calls == [((2, 32), 2)]
    assert shallow.depth == 2
    assert drafter.forward_seconds > 0


def test_a_slot_with_limit_0_need_not_have_been_observed():
    drafter = observed(medusa_heads(TARGET))
    *drafted, none = drafter.propose([context(), context(), context(0)])
    assert none == NO_DRAFT
    assert [len(tree) for tree in drafted] == [10, 10]
    assert drafter.propose([context(0)] * 3) == [NO_DRAFT] * 3


def test_a_state_moves_with_its_sequence():
    drafter = observed(medusa_heads(TARGET))
    _, expected = drafter.propose([context(), context()])
    drafter.release(0)
    drafter.move(1, 0)
    assert drafter.propose([context()]) == [expected]
    drafter.move(1, 0)  # a sequence that was never observed takes its place
    with pytest.raises(KeyError):
        drafter.propose([context()])


def acceptance_length(early: bool) -> float:
    """Of heads fitted to this very text; ``early``: they read the state before."""
    target = toy_slots(slots=PROMPTS)
    running = Engine(target, *medusa_static(target.model))
    observe = running._drafter.observe
    before = {}

    def late(slot, observation):
        last = torch.cat((before.get(slot, observation.states[:1]), observation.states))
        before[slot] = observation.states[-1:]
        observe(slot, Observation(last[:-1]))

    if early:
        running._drafter.observe = late
    done = generate(running, *(request(str(i), (i,), 24) for i in range(PROMPTS)))
    accepted = sum(completion.accepted for completion in done.values())
    return 1 + accepted / sum(completion.steps for completion in done.values())


def test_head_0_reads_the_state_before_the_pending_token():
    """Heads that are fitted as their authors train them know their own text."""
    assert acceptance_length(early=False) > 2.5
    assert acceptance_length(early=True) < 1.5


def test_heads_are_opened_from_their_checkpoint(tmp_path):
    heads = medusa_heads(TARGET, 3, own=False)
    save_file(heads.state_dict(), tmp_path / "medusa_lm_head.safetensors")
    opened = open_drafter(medusa_method(), tmp_path, toy_setup(TARGET))
    assert opened.reads == (FINAL,)
    for slot in (0, 1):
        opened.observe(slot, Observation(STATES[slot + 1 : slot + 2]))
    expected = observed(heads).propose([context(), context()])
    assert opened.propose([context(), context()]) == expected


def test_fewer_heads_than_the_tree_is_deep_are_refused(tmp_path):
    heads = medusa_heads(TARGET, 2)
    save_file(heads.state_dict(), tmp_path / "medusa_lm_head.safetensors")
    with pytest.raises(RunError, match="3 levels deep, but the checkpoint has 2") as e:
        open_drafter(medusa_method(), tmp_path, toy_setup(TARGET))
    assert "tree of up to 2 levels" in str(e.value)
