"""Batches share answers out once, and know where drafts begin in them."""

from __future__ import annotations

import pytest
import torch

from tests.fit.toy_fit import toy_store
from trtspec.fit.answers import Answer
from trtspec.fit.batches import chains, collate, in_order, plan_epoch

LENGTHS = [5 + (7 * n) % 31 for n in range(200)]


def test_a_chain_begins_wherever_a_token_of_an_answer_is_pending():
    answer = Answer("a", "", 0.0, tuple(range(12)), ((3, 6), (8, 12)))
    # pending tokens 3 | 8, 9; the last token of an answer has nothing behind it
    assert chains(answer) == [(2, 2), (3, 1), (7, 3), (8, 2), (9, 1)]


def test_an_answer_of_one_token_has_no_chain():
    assert chains(Answer("a", "", 0.0, (1, 2, 3), ((2, 3),))) == []


@pytest.mark.parametrize("plan", [plan_epoch, None])
def test_every_answer_is_in_one_batch_and_batches_fit(plan):
    batches = plan(LENGTHS, 100, 0, 0) if plan else in_order(LENGTHS, 100)
    assert sorted(index for batch in batches for index in batch) == list(range(200))
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(LENGTHS[i] for i in batch) <= 100


def test_epochs_are_shuffled_by_seed_and_number():
    first = plan_epoch(LENGTHS, 100, 0, 0)
    assert first == plan_epoch(LENGTHS, 100, 0, 0)
    assert first != plan_epoch(LENGTHS, 100, 0, 1)
    assert first != plan_epoch(LENGTHS, 100, 1, 0)


def test_an_answer_longer_than_a_batch_is_a_batch():
    assert sorted(plan_epoch([500, 4, 500], 100, 0, 0)) == [[0], [1], [2]]


def test_a_batch_says_what_each_step_proposes(tmp_path, target, answers):
    store = toy_store(tmp_path, target, (0,), answers[:3])
    batch = collate(answers, store, [2, 0])
    begin, end = answers[2].spans[0]
    assert batch.start[0] == begin - 1
    assert batch.room[0] == end - begin - 1
    width = batch.tokens.shape[1]
    for step in range(3):
        at = batch.places(step)[0]
        proposed = batch.tokens.flatten()[at + 1]
        assert int(proposed) == answers[2].tokens[begin + 1 + step]
        assert at == begin + step
    assert int(batch.row[-1]) == 1
    assert int(batch.places(0)[-1]) == width + answers[0].spans[0][1] - 2


def test_some_chains_come_in_runs_and_all_have_their_turn(tmp_path, target, answers):
    store = toy_store(tmp_path, target, (0,), answers[:20])
    batch = collate(answers, store, range(20))
    total, seen = len(batch.row), set()
    for turn in range(60):
        part = batch.some(64, turn)
        assert 32 <= len(part.row) <= 64
        assert torch.equal(part.places(0), part.places(0).unique())
        seen.update(part.places(0).tolist())
    assert len(seen) == total
    assert batch.some(total, 0) is batch
