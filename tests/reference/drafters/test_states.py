"""States wait slot by slot; heads read entries of any number, all ending together."""

from __future__ import annotations

import pytest
import torch

from tests.reference.toy_heads.mtp import toy_head
from tests.reference.toy_heads.setup import toy_setup
from tests.reference.toys import toy_model
from trtspec.reference.drafters import states
from trtspec.reference.drafters.states import Entry, UnreadStates, read

STATES = torch.randn(9, 32, generator=torch.Generator().manual_seed(5))
TOKENS = [3, 9, 4, 8, 2, 7, 5, 6, 4]


def test_states_are_given_oldest_first_and_once():
    unread = UnreadStates(2)
    unread.add(1, STATES[:2])
    unread.add(1, STATES[2:3])
    assert unread.take(0) is None
    assert torch.equal(unread.take(1), STATES[:3])
    assert unread.take(1) is None


def test_no_states_leave_nothing_waiting():
    unread = UnreadStates(1)
    unread.add(0, None)
    unread.add(0, STATES[:0])
    assert unread.take(0) is None


def test_states_move_with_their_slot_and_are_dropped_with_it():
    unread = UnreadStates(3)
    unread.add(2, STATES[:1])
    unread.add(0, STATES[1:2])
    unread.move(2, 0)
    assert unread.take(2) is None
    assert torch.equal(unread.take(0), STATES[:1])
    unread.add(1, STATES)
    unread.clear(1)
    assert unread.take(1) is None


@pytest.mark.parametrize("chunk", [1, 4, 512])
def test_head_reads_the_same_in_parts_of_any_size(monkeypatch, chunk):
    monkeypatch.setattr(states, "_CHUNK", chunk)
    head = toy_head(toy_model())
    slots = toy_setup().slots_for(head, 4)
    sizes = [9, 0, 3, 1]
    entries = [
        Entry(TOKENS[:size], STATES[:size]) if size else Entry() for size in sizes
    ]
    logits, given = read(slots, entries)
    assert slots.lengths == sizes
    assert given[1] is None
    for slot, size in enumerate(sizes):
        if size:
            tokens = torch.tensor([TOKENS[:size]])
            with torch.no_grad():
                plain = head(tokens, states=STATES[None, :size])
            torch.testing.assert_close(given[slot], plain.states[0], atol=1e-4, rtol=0)
            torch.testing.assert_close(
                logits[slot], plain.logits[0, -1], atol=1e-4, rtol=0
            )
