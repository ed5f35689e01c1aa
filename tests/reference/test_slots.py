"""KV slots: whatever happened to them, they hold what a fresh prefill would."""

from __future__ import annotations

import pytest
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)

from tests.reference.toys import SHAPES, full_logits, toy_slots
from trtspec.reference.slots import Row, SlotModel
from trtspec.reference.tree import ROOT, DraftTree

CLOSE = 2e-4


def fill(slots: SlotModel, first: int, *sequences) -> torch.Tensor:
    logits = slots.forward(first, [Row(s) for s in sequences], last_only=True)
    for row, tokens in enumerate(sequences):
        slots.keep(first + row, range(len(tokens)))
    return logits


def assert_same_contents(slots: SlotModel, slot: int, tokens, family="llama"):
    fresh = toy_slots(family)
    fill(fresh, 0, tokens)
    assert slots.lengths[slot] == len(tokens)
    pairs = zip(slots.contents(slot), fresh.contents(0), strict=True)
    for (keys, values), (fresh_keys, fresh_values) in pairs:
        torch.testing.assert_close(keys, fresh_keys, atol=CLOSE, rtol=0)
        torch.testing.assert_close(values, fresh_values, atol=CLOSE, rtol=0)


@pytest.mark.parametrize("family", SHAPES)
def test_ragged_prompts_give_the_logits_of_separate_forwards(family):
    prompts = [[3, 9, 4, 11, 7, 30, 2, 8], [5], [6, 2, 40, 9]]
    logits = fill(toy_slots(family), 0, *prompts)
    for row, prompt in enumerate(prompts):
        expected = full_logits(prompt, family)[-1]
        torch.testing.assert_close(logits[row], expected, atol=CLOSE, rtol=1e-4)


@pytest.mark.parametrize("family", SHAPES)
def test_a_tree_fed_level_by_level_agrees_with_one_fed_at_once(family):
    prompts = [[3, 9, 4, 11, 7, 30, 2, 8], [6, 2, 40, 9]]
    at_once, by_level = toy_slots(family), toy_slots(family)
    trees = [
        DraftTree((21, 22, 23, 24, 25), (ROOT, ROOT, 0, 0, 3)),
        DraftTree((31, 32, 33), (ROOT, ROOT, 1)),
    ]
    for slots in (at_once, by_level):
        fill(slots, 0, *prompts)
    rows = [Row((20, *tree.tokens), tree) for tree in trees]
    expected = at_once.forward(0, rows, last_only=False)
    steps = [(0, 1), (1, 3), (3, 5), (5, 6)]  # pending token, then the levels
    for begin, end in steps:
        rows = []
        for tree in trees:
            step = (20, *tree.tokens)[begin:end]
            grown = DraftTree(tree.tokens[: end - 1], tree.parents[: end - 1])
            rows.append(Row(step, grown, fed=min(begin, len(tree) + 1)))
        logits = by_level.forward(0, rows, last_only=False)
        for row, tree in enumerate(trees):
            size = len((20, *tree.tokens)[begin:end])
            torch.testing.assert_close(
                logits[row, :size],
                expected[row, begin : begin + size],
                atol=CLOSE,
                rtol=1e-4,
            )


@pytest.mark.parametrize("family", SHAPES)
def test_ragged_rows_with_a_tree_agree_with_separate_forwards(family):
    """Every node's logits are those of its own path, whatever its neighbours are."""
    prompts = [[3, 9, 4, 11, 7, 30, 2, 8], [6, 2, 40, 9], [5, 1]]
    slots = toy_slots(family)
    fill(slots, 0, *prompts)
    tree = DraftTree((21, 22, 23, 24, 25), (ROOT, ROOT, 0, 0, 3))
    rows = [Row((20, *tree.tokens), tree), Row((13,)), Row((14, 15, 16))]
    logits = slots.forward(0, rows, last_only=False)
    paths = [[20], [20, 21], [20, 22], [20, 21, 23], [20, 21, 24], [20, 21, 24, 25]]
    for node, path in enumerate(paths):
        expected = full_logits(prompts[0] + path, family)[-1]
        torch.testing.assert_close(logits[0, node], expected, atol=CLOSE, rtol=1e-4)
    expected = full_logits([*prompts[1], 13], family)[-1]
    torch.testing.assert_close(logits[1, 0], expected, atol=CLOSE, rtol=1e-4)
    expected = full_logits([*prompts[2], 14, 15, 16], family)[-3:]
    torch.testing.assert_close(logits[2, :3], expected, atol=CLOSE, rtol=1e-4)


@pytest.mark.parametrize("family", SHAPES)
def test_a_kept_branch_is_what_its_path_alone_would_have_stored(family):
    slots = toy_slots(family)
    fill(slots, 0, [3, 9, 4, 7, 2, 8])
    tree = DraftTree((21, 22, 23, 24), (ROOT, ROOT, 1, 2))
    slots.forward(0, [Row((20, *tree.tokens), tree)], last_only=False)
    slots.keep(0, [0, 2, 3, 4])  # pending, 22, 23, 24
    assert_same_contents(slots, 0, [3, 9, 4, 7, 2, 8, 20, 22, 23, 24], family)
    logits = fill(slots, 0, [33])
    expected = full_logits([3, 9, 4, 7, 2, 8, 20, 22, 23, 24, 33], family)[-1]
    torch.testing.assert_close(logits[0], expected, atol=CLOSE, rtol=1e-4)


def test_nothing_is_kept_of_a_step_that_is_not_kept():
    slots = toy_slots()
    fill(slots, 0, [3, 9, 4])
    slots.forward(0, [Row((20, 21, 22), DraftTree.chain([21, 22]))], last_only=False)
    logits = fill(slots, 0, [30])
    torch.testing.assert_close(
        logits[0], full_logits([3, 9, 4, 30])[-1], atol=CLOSE, rtol=1e-4
    )


def test_rollback_is_as_if_the_tokens_had_never_been():
    slots = toy_slots()
    fill(slots, 0, [3, 9, 4, 7, 8])
    slots.roll_back(0, 2)
    assert_same_contents(slots, 0, [3, 9])


def test_a_row_without_tokens_is_left_alone():
    slots = toy_slots()
    fill(slots, 0, [3, 9, 4], [5, 6])
    fill(slots, 0, [], [7, 8, 9])
    assert_same_contents(slots, 0, [3, 9, 4])
    assert_same_contents(slots, 1, [5, 6, 7, 8, 9])


def test_padding_of_a_short_row_never_reaches_past_the_slot():
    """A full slot beside a row that reads a long text: padding has one spare place."""
    slots = toy_slots(max_tokens=40)
    fill(slots, 0, list(range(2, 42)))
    fill(slots, 0, [7], list(range(1, 41)))
    assert_same_contents(slots, 1, list(range(1, 41)))


def test_a_moved_slot_holds_the_same_sequence():
    slots = toy_slots()
    fill(slots, 0, [3, 9], [4, 5, 6, 7])
    slots.move(1, 0)
    assert_same_contents(slots, 0, [4, 5, 6, 7])


class SlotsInUse(RuleBasedStateMachine):
    """Any mix of joins, steps, kept branches, rollbacks and leaves."""

    tokens = st.integers(2, 47)

    @initialize()
    def start(self):
        self.slots = toy_slots()
        self.texts: list[list[int]] = []

    @precondition(lambda self: len(self.texts) < 4)
    @rule(
        prompts=st.lists(
            st.lists(tokens, min_size=1, max_size=9), min_size=1, max_size=2
        )
    )
    def join(self, prompts):
        prompts = prompts[: 4 - len(self.texts)]
        fill(self.slots, len(self.texts), *prompts)
        self.texts += [list(p) for p in prompts]

    @precondition(lambda self: self.texts)
    @rule(data=st.data())
    def step(self, data):
        rows, kept = [], []
        for text in self.texts:
            size = data.draw(st.integers(0, 4))
            tokens = data.draw(st.lists(self.tokens, min_size=size, max_size=size))
            parents = [data.draw(st.integers(ROOT, i - 1)) for i in range(size)]
            tree = DraftTree(tuple(tokens), tuple(parents))
            pending = data.draw(self.tokens)
            path = data.draw(st.sampled_from([(), *range(size)]))
            rows.append(Row((pending, *tokens), tree))
            kept.append(_ancestors(tree, path) if path != () else [])
            text += [pending, *(tokens[n] for n in kept[-1])]
        self.slots.forward(0, rows, last_only=False)
        for slot, path in enumerate(kept):
            self.slots.keep(slot, [0, *(node + 1 for node in path)])

    @precondition(lambda self: self.texts)
    @rule(data=st.data())
    def roll_back(self, data):
        slot = data.draw(st.integers(0, len(self.texts) - 1))
        length = data.draw(st.integers(1, len(self.texts[slot])))
        self.slots.roll_back(slot, length)
        del self.texts[slot][length:]

    @precondition(lambda self: self.texts)
    @rule(data=st.data())
    def leave(self, data):
        slot = data.draw(st.integers(0, len(self.texts) - 1))
        last = len(self.texts) - 1
        if slot != last:
            self.slots.move(last, slot)
            self.texts[slot] = self.texts[last]
        self.slots.roll_back(last, 0)
        self.texts.pop()

    @invariant()
    def every_slot_holds_a_fresh_prefill(self):
        for slot, text in enumerate(getattr(self, "texts", [])):
            assert_same_contents(self.slots, slot, text)


def _ancestors(tree: DraftTree, node: int) -> list[int]:
    path = [node]
    while tree.parents[path[0]] != ROOT:
        path.insert(0, tree.parents[path[0]])
    return path


SlotsInUse.TestCase.settings = settings(
    max_examples=40, stateful_step_count=12, deadline=None
)
test_any_sequence_of_steps_equals_a_fresh_prefill = SlotsInUse.TestCase
